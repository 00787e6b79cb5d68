/** A mint and a purchase API behind one `fetch`, and a clock that stands still: runs in Node and in workerd. */
import type { DripClaims, ManifestEvent } from "@vestibule/contracts/statements";
import { createGuard } from "@vestibule/guard";
import type { Guard, GuardOptions } from "@vestibule/guard";
import { epochMs, epochSeconds, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import { decodeBase64url } from "@vestibule/keys/base64url";
import type { PublicJwk } from "@vestibule/keys/public-key";
import { type SigningKey, importPrivateJwk } from "@vestibule/keys/signing-key";
import { admissionId } from "@vestibule/token/admission-id";
import { signAdmission, signDrip, signManifest } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";

export const ISSUER = "https://mint.example";
export const MINT = "https://mint.example";
export const PURCHASE = "https://purchase.example";
export const EVENT = "spring-sale";
export const LIFETIME_SECONDS = 600;
export const VISITOR = "dmlzaXRvci1zZWNyZXQtb2YtMzItYnl0ZXMtaGVyZSE";
export const OTHER_VISITOR = "b3RoZXItdmlzaXRvci1zZWNyZXQtMzItYnl0ZXMtb2s";
export const START_MS = 1_767_225_660_000;

export interface Pair {
  readonly signingKey: SigningKey;
  readonly publicJwk: PublicJwk;
}

export async function newPair(): Promise<Pair> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const { privateKey } = pair;
  const imported = await importPrivateJwk(await crypto.subtle.exportKey("jwk", privateKey));
  if (!imported.ok) throw new Error(imported.refusal);
  return imported.value;
}

export function eventOf(event: string, over: Partial<ManifestEvent> = {}): ManifestEvent {
  return {
    ...{ event, title: event, hosts: ["shop.example"], paths: ["/*"], bypass: [], homePath: "/" },
    ...{ lifetimeSeconds: LIFETIME_SECONDS, claimWindowSeconds: 180, holdingStatus: 200 },
    ...{ accent: "#0b6e4f", endsAt: 253_402_300_000_000, ...over },
  };
}

export interface AdmissionOver {
  readonly event?: string;
  readonly number?: number;
  readonly visitor?: string;
  readonly iat?: number;
  readonly opensAt?: number;
  readonly lifetimeSeconds?: number;
  readonly issuer?: string;
  readonly key?: SigningKey;
}

type Answer = Response | Promise<Response>;

export class World {
  now = START_MS;
  pair: Pair;
  jwks: readonly PublicJwk[];
  /** The number of the key set, where the mint gives it one. */
  keysSeq: number | undefined;
  events: readonly ManifestEvent[] = [eventOf(EVENT)];
  drip: Partial<DripClaims> = {};
  /** Instead of the mint's answer, by path. */
  mint: ((path: string, signal: AbortSignal) => Answer | undefined) | undefined;
  /** Instead of the purchase API's answer. */
  purchase: ((request: Request) => Answer) | undefined;
  /** Paths asked of the mint, and of the purchase API, in order. */
  readonly asked: string[] = [];
  readonly spendRequests: Request[] = [];
  readonly alarms: string[] = [];
  readonly #spent = new Map<string, { key: string; spentAt: number }>();
  #seq = 0;

  private constructor(pair: Pair) {
    this.pair = pair;
    this.jwks = [pair.publicJwk];
  }

  static async create(): Promise<World> {
    return new World(await newPair());
  }

  guard(over: Partial<GuardOptions> = {}): Guard {
    return createGuard({
      mintUrls: MINT,
      issuer: ISSUER,
      event: EVENT,
      purchaseUrl: PURCHASE,
      fetch: this.fetch as never,
      now: () => this.now,
      onAlarm: ({ thing, reason }) => this.alarms.push(`${thing} ${reason}`),
      ...over,
    });
  }

  admission(over: AdmissionOver = {}): Promise<string> {
    const opensAt = epochMs(over.opensAt ?? this.now - 60_000);
    return signAdmission(over.key ?? this.pair.signingKey, {
      issuer: over.issuer ?? ISSUER,
      event: over.event ?? EVENT,
      sub: hashVisitor(over.visitor ?? VISITOR),
      number: ticketNumber(over.number ?? 7),
      action: "purchase",
      iat: over.iat === undefined ? toSeconds(opensAt) : epochSeconds(over.iat),
      opensAt,
      lifetimeSeconds: over.lifetimeSeconds ?? LIFETIME_SECONDS,
    });
  }

  /** A request as the edge forwards it. */
  async request(over: AdmissionOver & { visitorShown?: string } = {}): Promise<Request> {
    const admission = await this.admission(over);
    return requestWith(admission, over.visitorShown ?? over.visitor ?? VISITOR);
  }

  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { origin, pathname } = new URL(url);
    if (origin === PURCHASE) {
      const request = new Request(url, { ...init, redirect: "manual" });
      this.spendRequests.push(request.clone());
      return this.purchase === undefined ? this.#spend(request) : this.purchase(request);
    }
    this.asked.push(pathname);
    const answer = this.mint?.(pathname, init.signal as AbortSignal);
    return answer ?? new Response(await this.statement(pathname));
  };

  /** What the mint publishes right now. */
  async statement(path: string): Promise<string> {
    const { keysSeq } = this;
    if (path === "/.well-known/jwks.json") return JSON.stringify({ keys: this.jwks, seq: keysSeq });
    this.#seq += 1;
    const iat = Math.floor(this.now / 1000);
    const told = keysSeq === undefined ? {} : { keysSeq };
    const common = { iss: ISSUER, iat, exp: iat + 3_600, seq: this.#seq, ...told };
    if (path === "/v1/manifest") {
      return signManifest(this.pair.signingKey, { ...common, events: [...this.events] });
    }
    return signDrip(this.pair.signingKey, {
      ...common,
      aud: /^\/v1\/events\/([a-z0-9-]+)\/drip$/.exec(path)?.[1] ?? "",
      ...{ at: this.now, state: "open", segments: [], serving: 9, committed: 9, skips: [] },
      ...{ issued: 9, rate: 60, notice: "", cuts: [], endsAt: 253_402_300_000_000 },
      ...this.drip,
    });
  }

  /** One spend for each admission of this world, the same answer for the same key. */
  #spend(request: Request): Response {
    const event = /^\/v1\/events\/([a-z0-9-]+)\/spends$/.exec(new URL(request.url).pathname)?.[1];
    const [, payload = ""] = (request.headers.get("Vestibule-Admission") ?? "").split(".");
    const key = request.headers.get("Idempotency-Key") ?? "";
    const { n } = JSON.parse(new TextDecoder().decode(decodeBase64url(payload))) as { n: number };
    const jti = admissionId(event ?? "", ticketNumber(n));
    const known = this.#spent.get(jti);
    if (known !== undefined && known.key !== key) return problem(409, "already-spent");
    const spentAt = known?.spentAt ?? this.now;
    this.#spent.set(jti, { key, spentAt });
    return Response.json({ event, jti, number: n, spentAt }, { status: 201 });
  }
}

export function requestWith(admission: string, visitor: string, init: RequestInit = {}): Request {
  const headers = { "Vestibule-Admission": admission, "Vestibule-Visitor": visitor };
  return new Request("https://shop.example/checkout", { method: "POST", headers, ...init });
}

export function problem(
  status: number,
  code: string,
  more: { headers?: Record<string, string>; extensions?: object } = {},
): Response {
  const body = { ...more.extensions, type: `urn:vestibule:problem:${code}`, title: code, status };
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/problem+json", ...more.headers },
  });
}
