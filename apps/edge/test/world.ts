/**
 * A mint, an origin and a purchase API made of values, around one edge in real workerd. Tokens are
 * signed here, outside of the edge; every request that leaves the edge is kept and can be counted.
 */
import type { ManifestEvent, DripClaims } from "@vestibule/contracts/statements";
import { runtimeVerifies } from "@vestibule/keys/runtime-check";
import { problemDocument, PROBLEMS, type ProblemCode } from "@vestibule/contracts/problems";
import { epochMs, epochSeconds, ticketNumber, type EpochMs } from "@vestibule/kernel/units";
import { sleep } from "@vestibule/feed/fetch-text.system";
import { importPrivateJwk, type SigningKey } from "@vestibule/keys/signing-key";
import type { PublicJwk } from "@vestibule/keys/public-key";
import { signAdmission, signDrip, signManifest, signTicket, signTime } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";
import type { Bindings } from "../src/bindings.ts";
import type { EdgeConfig } from "../src/config.ts";
import { createEdge } from "../src/create-edge.ts";
import type { EdgeHandler } from "../src/edge.ts";
import { KNOWN_HEADERS_DEFAULT } from "../src/proxy/known-headers.ts";
import { EVENT, LIFETIME_SECONDS, NOW } from "./event.ts";

export { EVENT, LIFETIME_SECONDS, NOW };

export const HOST = "https://shop.example";
export const ISSUER = "https://mint.example";
/** Two visitors: A has the place, B is somebody else. */
export const VISITOR_A = "A".repeat(43);
export const VISITOR_B = `${"B".repeat(42)}A`;

export interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string;
  readonly redirect: string | undefined;
  readonly signal: AbortSignal | undefined;
}
type Answer = Response | Promise<Response>;

export interface World {
  readonly edge: EdgeHandler;
  readonly key: SigningKey;
  /** By the mint's clock, which is right. */
  now: EpochMs;
  /** The location's clock less the mint's. */
  clockOffMs: number;
  manifest: ManifestEvent[];
  drip: Partial<DripClaims>;
  keys: readonly PublicJwk[];
  seq: number;
  /** Numbers given. */
  joined: number;
  /** What each mint, the origin and the purchase API do; replaced by tests. */
  mint: (request: Sent) => Answer | undefined;
  origin: (request: Sent) => Answer;
  purchase: (request: Sent) => Answer;
  /** Thrown from now on by what cannot fail. */
  fault?: Error;
  readonly sent: Sent[];
  /** What was logged. */
  readonly lines: object[];
  /** Requests that reached a mint for a grant: joins and claims. */
  grants(): Sent[];
  toOrigin(): Sent[];
  get(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, init?: RequestInit): Promise<Response>;
  /** Set by an origin that hangs: called when the edge gives up on it. */
  whenAborted?: () => void;
  /** How often a request waited for what another had asked for. */
  slept: number;
  /** Work that requests left for the background. */
  settle(): Promise<void>;
  ticket(number: number, visitor?: string): Promise<string>;
  admission(options?: Partial<AdmissionOptions>): Promise<string>;
}

interface AdmissionOptions {
  readonly number: number;
  readonly visitor: string;
  readonly opensAt: number;
  readonly iat: number;
  readonly event: string;
  readonly key: SigningKey;
  readonly lifetimeSeconds: number;
}

const CONFIG: EdgeConfig = {
  mintUrls: ["https://mint-1.internal", "https://mint-2.internal"],
  originUrl: "https://origin.internal",
  purchaseUrl: "https://purchase.internal",
  issuer: ISSUER,
  bootKeys: undefined,
  skewSeconds: 5,
  location: "test",
  originDeadlineMs: 30_000,
  originHost: "origin",
  knownHeaders: KNOWN_HEADERS_DEFAULT,
  trustsClientAddress: false,
};

export async function newKey(): Promise<{ key: SigningKey; jwk: PublicJwk }> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const jwk = await crypto.subtle.exportKey("jwk", (pair as CryptoKeyPair).privateKey);
  const read = await importPrivateJwk(jwk);
  if (!read.ok) throw new Error(read.refusal);
  return { key: read.value.signingKey, jwk: read.value.publicJwk };
}

export function refusal(code: ProblemCode, headers: Record<string, string> = {}): Response {
  const init = { status: PROBLEMS[code].status, headers };
  return new Response(JSON.stringify(problemDocument(code)), init);
}

export async function createWorld(
  options: {
    config?: Partial<EdgeConfig>;
    runtimeVerifies?: () => Promise<boolean>;
    clockOffMs?: number;
    bindings?: Bindings;
  } = {},
): Promise<World> {
  const { key, jwk } = await newKey();
  const background: Promise<unknown>[] = [];
  const sent: Sent[] = [];
  const lines: object[] = [];

  const world: Omit<World, "edge"> & { edge?: EdgeHandler } = {
    key,
    now: NOW,
    clockOffMs: options.clockOffMs ?? 0,
    manifest: [EVENT],
    drip: {},
    keys: [jwk],
    seq: 1,
    joined: 0,
    slept: 0,
    mint: () => undefined,
    origin: (request) => Response.json({ path: new URL(request.url).pathname }),
    purchase: () => Response.json({ orderId: "o-1" }, { status: 201 }),
    ...{ sent, lines },
    grants: () =>
      sent.filter(({ url, method }) => isMint(url) && method === "POST" && !isQuestion(url)),
    toOrigin: () => sent.filter(({ url }) => url.startsWith("https://origin.internal/")),
    get: (path, init) => call(path, { method: "GET", ...init }),
    post: (path, init) => call(path, { method: "POST", ...init }),
    settle: async () => {
      while (background.length > 0) await background.shift();
    },
    ticket: (number, visitor = VISITOR_A) => signTicketFor(number, visitor),
    admission: async (given = {}) => {
      const { number = 1, visitor = VISITOR_A, event = "demo" } = given;
      const opensAt = given.opensAt ?? world.now - 60_000;
      return signAdmission(given.key ?? key, {
        issuer: ISSUER,
        event,
        sub: hashVisitor(visitor),
        number: ticketNumber(number),
        action: "purchase",
        iat: epochSeconds(given.iat ?? Math.floor(world.now / 1000) - 60),
        opensAt: epochMs(opensAt),
        lifetimeSeconds: given.lifetimeSeconds ?? LIFETIME_SECONDS,
      });
    },
  };

  // Until the end of its event as it stands now, as the mint does.
  async function signTicketFor(number: number, visitor: string): Promise<string> {
    return signTicket(key, {
      issuer: ISSUER,
      event: "demo",
      sub: hashVisitor(visitor),
      iat: epochSeconds(Math.floor(world.now / 1000) - 5),
      exp: epochSeconds((world.manifest[0] ?? EVENT).endsAt / 1000),
      place: { number: ticketNumber(number) },
    });
  }

  async function call(path: string, init: RequestInit): Promise<Response> {
    const request = new Request(path.startsWith("/") ? HOST + path : path, init);
    if (world.edge === undefined) throw new Error("the edge is there by now");
    return world.edge.fetch(request, { waitUntil: (work) => background.push(work) });
  }

  world.edge = await createEdge({
    config: { ...CONFIG, bootKeys: { keys: [jwk] }, ...options.config },
    clock: { now: () => epochMs(world.now + world.clockOffMs) },
    randomness: {
      bytes: (length) => {
        if (world.fault !== undefined) throw world.fault;
        return crypto.getRandomValues(new Uint8Array(length));
      },
    },
    sleep: (ms) => {
      world.slept += 1;
      return sleep(ms);
    },
    runtimeVerifies: options.runtimeVerifies ?? runtimeVerifies,
    ...(options.bindings === undefined ? {} : { bindings: options.bindings }),
    log: (line) => lines.push(line),
    fetch: async (url, init) => {
      init.signal?.addEventListener("abort", () => world.whenAborted?.());
      const headers = new Headers(init.headers);
      const body = init.body ? await new Response(init.body).text() : "";
      const { method = "GET", redirect } = init;
      const request = { url, method, headers, body, redirect, signal: init.signal ?? undefined };
      sent.push(request);
      if (isMint(url)) return answerAsMint(world, request);
      return url.startsWith("https://purchase.internal/")
        ? world.purchase(request)
        : world.origin(request);
    },
  });
  return world as World;
}

/** Never answers; breaks off when the edge gives up on it. */
export function hang({ signal }: Sent): Promise<Response> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener("abort", () => {
      reject(new Error("aborted"));
    });
  });
}

/** What time is it? No grant. */
export function isQuestion(url: string): boolean {
  return url.endsWith("/clock");
}

function isMint(url: string): boolean {
  return url.startsWith("https://mint-");
}

/** What the mints answer unless a test says otherwise. Places are counted up from 1. */
async function answerAsMint(world: Omit<World, "edge">, request: Sent): Promise<Response> {
  const own = world.mint(request);
  if (own !== undefined) return own;
  const { pathname } = new URL(request.url);
  const iat = epochSeconds(Math.floor(world.now / 1000));
  if (pathname === "/.well-known/jwks.json") return Response.json({ keys: world.keys });
  if (pathname === "/v1/manifest") {
    const claims = {
      iss: ISSUER,
      iat,
      exp: iat + 604_800,
      seq: world.seq,
      events: world.manifest,
    };
    return new Response(await signManifest(world.key, claims));
  }
  if (pathname.endsWith("/drip")) {
    const event = pathname.split("/")[3] ?? "";
    return new Response(await signDrip(world.key, dripOf(world, event)));
  }
  if (isQuestion(pathname)) {
    const { nonce } = JSON.parse(request.body) as { nonce: string };
    const time = await signTime(world.key, { issuer: ISSUER, nonce, at: world.now });
    return Response.json({ time });
  }
  const body = JSON.parse(request.body) as { visitor: string };
  if (pathname.endsWith("/tickets")) {
    world.joined += 1;
    const ticket = await world.ticket(world.joined, body.visitor);
    return Response.json(
      { event: "demo", number: world.joined, issuedAt: world.now, ticket },
      { status: 201 },
    );
  }
  const opensAt = world.now - 1_000;
  const closesAt = opensAt + LIFETIME_SECONDS * 1_000;
  const admission = await world.admission({ opensAt, visitor: body.visitor });
  return Response.json({ opensAt, closesAt, admission }, { status: 201 });
}

export function dripOf(world: Pick<World, "now" | "seq" | "drip">, event: string): DripClaims {
  const second = Math.floor(world.now / 1000);
  return {
    ...{ iss: ISSUER, aud: event, iat: second, exp: second + 3_600, at: world.now },
    ...{ seq: world.seq, state: "open", serving: 10, committed: 100, skips: [], issued: 5_000 },
    ...{ rate: 60, notice: "", cuts: [], endsAt: EVENT.endsAt },
    segments: [{ base: 1, count: 100, from: world.now - 10_000, until: world.now + 90_000 }],
    ...world.drip,
  };
}

/** The cookies of one visitor, as a browser would send them. */
export function cookies(
  values: Partial<Record<"visitor" | "ticket" | "admission", string>>,
): string {
  return Object.entries(values)
    .map(([kind, value]) => `__Host-vst-${kind}-demo=${value}`)
    .join("; ");
}

/** What every browser sends with a page view, and with a POST of its own page. */
export const PAGE_VIEW = {
  Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
};
export const OWN_PAGE = { "Sec-Fetch-Site": "same-origin", Origin: HOST };
