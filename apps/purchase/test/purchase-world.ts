import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { DripClaims, ManifestEvent } from "@vestibule/contracts/statements";
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import { epochMs, epochSeconds, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { importPrivateJwk } from "@vestibule/keys/signing-key";
import { silentLog } from "@vestibule/service/log";
import { Secret } from "@vestibule/service/secret";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { signAdmission, signDrip, signManifest } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";
import type { PurchaseConfig } from "../src/config.ts";
import { type PurchaseParts, type RunningPurchase, startPurchase } from "../src/service.ts";

export const ISSUER = "https://mint.test";
export const EVENT = "spring";
export const LIFETIME_SECONDS = 600;
export const ADMIN_TOKEN = "an-admin-token-of-the-purchase-tests";
export const SHOP_TOKEN = "the-token-of-the-shop-in-purchase-tests";

/** A mint that publishes what a test says, and counts who asks. */
export interface FakeMint {
  /** What `PUT /v1/supply/events/{event}` was told, in the order of arrival, and how it is answered. */
  readonly reports: ({ event: string; authorization: string } & SupplyReport)[];
  /** False: it refuses a report that has one, as releases before it do. */
  knowsLastCall: boolean;
  supplyAnswer: number | "silence" | "cut-off";
  readonly url: string;
  readonly signingKey: SigningKey;
  drip: Partial<DripClaims>;
  events: readonly ManifestEvent[];
  away: boolean;
  asked: number;
  close(): void;
}

export async function newSigningKey(): Promise<{ signingKey: SigningKey; publicJwk: object }> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const imported = await importPrivateJwk(await crypto.subtle.exportKey("jwk", pair.privateKey));
  if (!imported.ok) throw new Error(imported.refusal);
  return imported.value;
}

export function eventOf(event: string): ManifestEvent {
  return {
    event,
    title: event,
    hosts: ["shop.test"],
    paths: ["/events/*"],
    bypass: [],
    homePath: "/",
    lifetimeSeconds: LIFETIME_SECONDS,
    claimWindowSeconds: 180,
    holdingStatus: 200,
    accent: "#0b6e4f",
    endsAt: 253_402_300_000_000,
  };
}

export async function startFakeMint(clock: FakeClock): Promise<FakeMint> {
  const { signingKey, publicJwk } = await newSigningKey();
  let seq = 0;
  const statement = async (path: string): Promise<string | undefined> => {
    seq += 1;
    const iat = toSeconds(clock.now());
    const common = { iss: ISSUER, iat, exp: iat + 3_600, seq };
    if (path === "/.well-known/jwks.json") return JSON.stringify({ keys: [publicJwk] });
    if (path === "/v1/manifest") {
      return signManifest(signingKey, { ...common, events: [...mint.events] });
    }
    const event = /^\/v1\/events\/([a-z-]+)\/drip$/.exec(path)?.[1];
    if (event === undefined) return undefined;
    return signDrip(signingKey, { ...common, ...emptyDrip(event, clock.now()), ...mint.drip });
  };
  const server: Server = createServer((request, response) => {
    if (request.method === "PUT") {
      hearReport(mint, request, response);
      return;
    }
    mint.asked += 1;
    void statement(request.url ?? "").then((text) => {
      response.writeHead(mint.away ? 503 : text === undefined ? 404 : 200);
      response.end(mint.away ? "" : text);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const mint: FakeMint = {
    url: `http://127.0.0.1:${port}`,
    signingKey,
    drip: {},
    events: [eventOf(EVENT), eventOf("autumn")],
    away: false,
    asked: 0,
    reports: [],
    knowsLastCall: true,
    supplyAnswer: 204,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return mint;
}

function hearReport(mint: FakeMint, request: IncomingMessage, response: ServerResponse): void {
  const event = /^\/v1\/supply\/events\/([a-z-]+)$/.exec(request.url ?? "")?.[1] ?? "";
  const { authorization = "" } = request.headers;
  let text = "";
  request.on("data", (chunk: Buffer) => (text += chunk.toString()));
  request.on("end", () => {
    const { supplyAnswer } = mint;
    const report = JSON.parse(text) as SupplyReport;
    if (!mint.knowsLastCall && report.lastCall !== undefined) {
      response.writeHead(400).end();
      return;
    }
    mint.reports.push({ event, authorization, ...report });
    if (supplyAnswer === "silence") return;
    if (supplyAnswer === "cut-off") request.socket.destroy();
    else response.writeHead(mint.away ? 503 : supplyAnswer).end();
  });
}

function emptyDrip(event: string, at: number): Omit<DripClaims, "iss" | "iat" | "exp" | "seq"> {
  return {
    aud: event,
    at,
    state: "open",
    segments: [],
    serving: 0,
    committed: 0,
    skips: [],
    issued: 0,
    rate: 60,
    notice: "",
    cuts: [],
    endsAt: 253_402_300_000_000,
  };
}

export interface Fan {
  readonly visitor: string;
  readonly admission: string;
  readonly number: number;
}

export interface PurchaseWorld extends RunningPurchase {
  readonly clock: FakeClock;
  readonly mint: FakeMint;
  readonly databaseUrl: string;
  /** Another instance on the same database and mint; with `store` also on the same store. */
  another(seed: number, more?: WorldOptions): Promise<RunningPurchase>;
  /** A fan whose slot opened `secondsAgo`. */
  fan(options?: { secondsAgo?: number; event?: string; key?: SigningKey }): Promise<Fan>;
  setStock(event: string, sku: string, total: number, more?: object): Promise<Response>;
  buy(fan: Partial<Fan>, options?: BuyOptions): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

export interface BuyOptions {
  readonly event?: string;
  /** `null`: no Idempotency-Key at all. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly path?: string;
  readonly base?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A configuration with a limit that no test reaches by accident. */
export function configOf(
  { databaseUrl, mintUrl }: { databaseUrl: string; mintUrl: string },
  change: Partial<PurchaseConfig> = {},
): PurchaseConfig {
  return {
    host: "127.0.0.1",
    port: 0,
    databaseUrl: new Secret(databaseUrl),
    databaseConnectionsMax: 20,
    issuer: ISSUER,
    mintUrls: [mintUrl],
    adminToken: new Secret(ADMIN_TOKEN),
    bootKeys: undefined,
    skewSeconds: 5,
    valkeyUrl: undefined,
    valkeyDeadlineMs: 250,
    gateEnabled: true,
    trustProxyHops: 0,
    instances: 1,
    nodeEnv: "test",
    identitySecret: undefined,
    shopToken: new Secret(SHOP_TOKEN),
    supplyToken: undefined,
    creditKey: undefined,
    purchaseLimit: { capacity: 10_000, refillMs: 1 },
    consoleLogInLimit: { capacity: 10_000, refillMs: 1 },
    readLimit: { capacity: 10_000, refillMs: 1 },
    ...change,
  };
}

export interface WorldOptions extends Omit<Partial<PurchaseParts>, "clock"> {
  readonly clock?: FakeClock;
  readonly config?: Partial<PurchaseConfig>;
}

export async function purchaseWorld(options: WorldOptions = {}): Promise<PurchaseWorld> {
  const { config: change, clock = new FakeClock(), ...parts } = options;
  const randomness = new SeededRandomness(7);
  const mint = await startFakeMint(clock);
  const databaseUrl = await freshDatabase();
  const config = configOf({ databaseUrl, mintUrl: mint.url }, change);
  const start = (seed: number, more: WorldOptions = {}): Promise<RunningPurchase> => {
    const { config: again, ...otherParts } = more;
    const randomnessOfIt = new SeededRandomness(seed);
    return startPurchase(
      { ...config, ...again },
      { clock, randomness: randomnessOfIt, log: silentLog, ...parts, ...otherParts },
    );
  };
  const running = await start(8);
  let numbers = 0;
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
  return {
    ...running,
    clock,
    mint,
    databaseUrl,
    another: (seed, more) => start(seed, more),
    fan: async ({ secondsAgo = 10, event = EVENT, key = mint.signingKey } = {}) => {
      numbers += 1;
      const visitor = text(randomness.bytes(32));
      const opensAt = epochMs(clock.now() - secondsAgo * 1_000);
      const admission = await signAdmission(key, {
        issuer: ISSUER,
        event,
        sub: hashVisitor(visitor),
        number: ticketNumber(numbers),
        action: "purchase",
        iat: epochSeconds(toSeconds(opensAt) - 1),
        opensAt,
        lifetimeSeconds: LIFETIME_SECONDS,
      });
      return { visitor, admission, number: numbers };
    },
    setStock: (event, sku, total, more = {}) =>
      fetch(`${running.url}/v1/admin/events/${event}/stock/${sku}`, {
        method: "PUT",
        headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
        body: JSON.stringify({ total, ...more }),
      }),
    buy: (
      fan,
      { event = EVENT, key = "1", body = { sku: "seat", quantity: 1 }, path, base, headers } = {},
    ) =>
      fetch(`${base ?? running.url}/v1/events/${event}/${path ?? "purchases"}`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          ...(fan.admission === undefined ? {} : { "Vestibule-Admission": fan.admission }),
          ...(fan.visitor === undefined ? {} : { "Vestibule-Visitor": fan.visitor }),
          ...(key === null ? {} : { "Idempotency-Key": key }),
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    get: (path, headers = {}) => fetch(`${running.url}${path}`, { headers }),
    close: async () => {
      await running.stop();
      mint.close();
    },
  };
}
