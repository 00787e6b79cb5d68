/**
 * A mint made of values, in virtual time: its keys move by the real plan, its tokens and statements are really signed.
 * What it answers is what the real one does; the end-to-end test says so.
 */
import {
  ADMISSION_KEY_RETIRING_SECONDS,
  JWKS_CACHE_SECONDS_MAX,
  KEY_STAGED_SECONDS,
  KEYS_PER_USE_MAX,
  KEYS_PROPAGATION_SECONDS,
  LINE_KEY_RETIRING_SECONDS,
  SKEW_SECONDS_MAX,
} from "@vestibule/contracts/limits";
import type { EdgesView } from "@vestibule/contracts/edges-api";
import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { PremintClaimsRequest } from "@vestibule/contracts/premint-api";
import type { ServiceTokenRequest } from "@vestibule/contracts/service-api";
import type { PreviewView } from "@vestibule/contracts/preview-api";
import type { KeysView, KeyView } from "@vestibule/contracts/keys-api";
import { type ProblemCode, problemDocument, PROBLEMS } from "@vestibule/contracts/problems";
import { ok, refuse } from "@vestibule/kernel/result";
import { epochSeconds, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import { generateKeyPair } from "@vestibule/keys/key-pair";
import { KEY_USES, type KeyUse, type PublicJwk } from "@vestibule/keys/public-key";
import {
  apply,
  check,
  type KeyRecord,
  plan,
  publishedKeys,
  type RotationAction,
  type RotationPolicy,
  type RotationRequest,
  safeFrom,
  signingKey,
} from "@vestibule/keys/rotation";
import { importPrivateJwk, type SigningKey } from "@vestibule/keys/signing-key";
import type { FakeClock } from "@vestibule/testkit/fake-clock";
import { signAdmission, signDrip, signManifest, signTicket } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";
import type { FetchText } from "@vestibule/feed/ports";
import { type Deeds, deedOf, heldView } from "./fake-deeds.ts";
import { FakeLine } from "./fake-line.ts";
import { type HttpAnswer, type HttpRequest, UnreachableError } from "../../src/platform.ts";

export const MINT_URL = "http://localhost:8788";
export const ISSUER = "https://mint.example";
export const TOKEN = "admin-token-".padEnd(40, "x");

const COMMON = {
  jwksCacheSeconds: JWKS_CACHE_SECONDS_MAX,
  skewSeconds: SKEW_SECONDS_MAX,
  propagationSeconds: KEYS_PROPAGATION_SECONDS,
  stagedSeconds: KEY_STAGED_SECONDS,
  keysMax: KEYS_PER_USE_MAX,
  signForSeconds: null,
};
const POLICIES: Readonly<Record<KeyUse, RotationPolicy>> = {
  line: { ...COMMON, tokenLifeSecondsMax: 3_600, retiringSeconds: LINE_KEY_RETIRING_SECONDS },
  admission: {
    ...{ ...COMMON, tokenLifeSecondsMax: 660 },
    retiringSeconds: ADMISSION_KEY_RETIRING_SECONDS,
  },
};

type Event = EventSettings & Deeds;
type Reply = readonly [status: number, body: unknown];

export class FakeMint {
  readonly clock: FakeClock;
  readonly events = new Map<string, Event>();
  readonly audit: string[] = [];
  readonly asked: HttpRequest[] = [];
  seq = 0;
  frozenBy: string[] = [];
  readonly archived = new Set<string>();
  /** Batches of places given beforehand. */
  readonly premints = new Map<string, { readonly first: number; readonly subs: string }>();
  readonly line = new FakeLine();
  edges: EdgesView | undefined;
  /** What previews say. */
  outlook: Partial<PreviewView> = {};
  /** In place of an answer, or of what would be published: what a test breaks. */
  broken: (request: HttpRequest) => Reply | "away" | undefined = () => undefined;
  unpublished: ReadonlySet<string> = new Set();
  #numbers = 0;
  readonly #records: Record<KeyUse, readonly KeyRecord[]> = { line: [], admission: [] };
  readonly #createdAt = new Map<string, number>();
  readonly #pairs = new Map<string, { signingKey: SigningKey; publicJwk: PublicJwk }>();

  private constructor(clock: FakeClock) {
    this.clock = clock;
  }

  static async start(clock: FakeClock): Promise<FakeMint> {
    const mint = new FakeMint(clock);
    await mint.settle();
    return mint;
  }

  key(use: KeyUse, state: KeyRecord["state"]): string {
    return this.#records[use].find((key) => key.state === state)?.kid ?? "";
  }

  /** What is due, as the mint's loop does it. */
  async settle(): Promise<void> {
    const seq = Math.max(this.seq + 1, this.clock.now());
    for (const use of KEY_USES)
      for (const action of plan(this.#records[use], this.clock.now(), POLICIES[use]))
        await this.#perform(use, action, seq);
  }

  send = async (request: HttpRequest): Promise<HttpAnswer> => {
    this.asked.push(request);
    await this.settle();
    const broken = this.broken(request);
    if (broken === "away" || !request.url.startsWith(MINT_URL))
      throw new UnreachableError("ECONNREFUSED");
    const [status, body] = broken ?? (await this.#answer(request));
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return { status, text, roundTripMs: 0, headers: { get: () => null } };
  };

  fetchText: FetchText = async ({ url }) => {
    try {
      const { status, text } = await this.send({ url });
      return status === 200 ? ok({ text, roundTripMs: 1 }) : refuse({ reason: "status", status });
    } catch {
      return refuse({ reason: "unreachable" });
    }
  };

  async #perform(use: KeyUse, action: RotationAction, seq: number): Promise<KeyRecord> {
    const now = this.clock.now();
    let kid = action.do === "stage" ? "" : action.kid;
    if (action.do === "stage") {
      const pair = await importPrivateJwk((await generateKeyPair()).privateJwk);
      if (!pair.ok) throw new Error(pair.refusal);
      ({ kid } = pair.value.publicJwk);
      this.#pairs.set(kid, pair.value);
      this.#createdAt.set(kid, now);
    }
    this.#records[use] = apply(this.#records[use], action, { now, newKid: kid, seq });
    this.seq = seq;
    const record = this.#records[use].find((key) => key.kid === kid);
    if (record === undefined) throw new Error("a step is about a key");
    return record;
  }

  #view(use: KeyUse, record: KeyRecord): KeyView {
    const { kid, state, since } = record;
    const createdAt = this.#createdAt.get(kid) ?? since;
    const view = { kid, use, alg: "Ed25519" as const, state, since, createdAt };
    if (state !== "staged" && state !== "retiring") return view;
    const signing = signingKey(this.#records[use]);
    const safe = safeFrom(record, { policy: POLICIES[use], signing });
    const step = state === "staged" ? "activate" : "retire";
    const next = { step, safeFrom: safe, isSafe: this.clock.now() >= safe } as const;
    return state === "retiring" ? { ...view, until: safe, next } : { ...view, next };
  }

  #keys(): KeysView {
    const keys = KEY_USES.flatMap((use) =>
      this.#records[use].map((record) => this.#view(use, record)),
    );
    const { seq, frozenBy } = this;
    return { serverTime: this.clock.now(), seq, policies: POLICIES, frozenBy, keys };
  }

  #jwks(): object {
    const now = this.clock.now();
    const keys = KEY_USES.flatMap((use) =>
      publishedKeys(this.#records[use], now, POLICIES[use]).flatMap(({ kid, exp }) => {
        const jwk = this.#pairs.get(kid)?.publicJwk;
        if (jwk === undefined || this.unpublished.has(kid)) return [];
        return [{ ...jwk, vst_use: use, ...(exp === undefined ? {} : { exp }) }];
      }),
    );
    return { seq: this.seq, keys };
  }

  #signer(use: KeyUse): SigningKey {
    const pair = this.#pairs.get(signingKey(this.#records[use])?.kid ?? "");
    if (pair === undefined) throw new Error("no key signs");
    return pair.signingKey;
  }

  async #answer({ method = "GET", url, headers = {}, body }: HttpRequest): Promise<Reply> {
    const path = url.slice(MINT_URL.length).replace(/\?.*$/, "");
    if (path === "/.well-known/jwks.json") return [200, this.#jwks()];
    if (path === "/v1/manifest") return [200, await this.#manifest()];
    const [, event = "", what = ""] = /^\/v1\/events\/([^/]+)\/(\w+)$/.exec(path) ?? [];
    if (event !== "") return this.#line(event, what, body as Record<string, string>);
    if (headers["Authorization"] !== `Bearer ${TOKEN}`) return problem("unauthorized");
    if (path === "/v1/admin/edges")
      return this.edges === undefined ? problem("not-found") : [200, this.edges];
    const [, batch = ""] = /^\/v1\/admin\/events\/[^/]+\/premints\/([^/]+)$/.exec(path) ?? [];
    const [, claims = ""] =
      /^\/v1\/admin\/events\/[^/]+\/premints\/([^/]+)\/admissions$/.exec(path) ?? [];
    if (claims !== "") return this.#claimPremint(claims, body as PremintClaimsRequest);
    if (batch !== "") return this.#premint(batch, (body as { subs: string[] }).subs);
    if (path.startsWith("/v1/admin/events")) return this.#event(method, path, headers, body);
    if (method === "GET") return [200, this.#keys()];
    return this.#command(path, headers, body as { use?: KeyUse; force?: boolean; reason?: string });
  }

  async #command(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: { use?: KeyUse; force?: boolean; reason?: string },
  ): Promise<Reply> {
    const [, kid = "", name = "stage"] = /^\/v1\/admin\/keys\/(.+)\/(\w+)$/.exec(path) ?? [];
    const match = headers["If-Match"];
    if (match !== undefined && match !== `"${this.seq}"`) return problem("version-mismatch");
    const use =
      body.use ?? KEY_USES.find((each) => this.#records[each].some((key) => key.kid === kid));
    if (use === undefined) return problem("key-not-found");
    const known = this.#records[use].find((key) => key.kid === kid);
    const result = { activate: "signing", retire: "retired", revoke: "revoked" }[name];
    if (known !== undefined && known.state === result)
      return [200, { changed: false, seq: this.seq, key: this.#view(use, known) }];
    const request = {
      stage: { do: "stage" },
      activate: { do: "promote", kid, force: body.force ?? false },
      retire: { do: "retire", kid, force: body.force ?? false },
      revoke: { do: "revoke", kid },
    }[name] as RotationRequest;
    const action = check(this.#records[use], request, this.clock.now(), POLICIES[use]);
    if (!action.ok) {
      const { refusal } = action;
      return refusal.reason === "not-yet-safe"
        ? problem("not-yet-safe", { safeFrom: refusal.safeFrom })
        : problem("conflict");
    }
    const seq = Math.max(this.seq + 1, this.clock.now());
    const record = await this.#perform(use, action.value, seq);
    for (const due of plan(this.#records[use], this.clock.now(), POLICIES[use]))
      await this.#perform(use, due, seq);
    this.audit.push(`${name} ${body.force === true ? "forced " : ""}${body.reason ?? ""}`.trim());
    const now = this.#records[use].find((key) => key.kid === record.kid) ?? record;
    return [name === "stage" ? 201 : 200, { changed: true, seq, key: this.#view(use, now) }];
  }

  #event(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: unknown,
  ): Reply {
    const [name = "", deed] = path.slice("/v1/admin/events/".length).split("/");
    if (name === "" && method === "GET")
      return [200, { events: [...this.events.values()].map((each) => this.#eventView(each)) }];
    if (deed === "archive") return this.#archive(name);
    if (deed === "service-tokens") return this.#serviceToken(name, body as ServiceTokenRequest);
    if (deed === "preview") return this.#preview(name, headers, body as object);
    if (method === "POST" && deed !== undefined)
      return this.#deed(name, deedOf(deed, body), headers["If-Match"]);
    if (method === "POST") {
      const event = { ...(body as EventSettings), version: 1 };
      this.events.set(event.event, event);
      return [201, this.#eventView(event)];
    }
    const event = this.events.get(name);
    if (event === undefined) return problem("event-not-found");
    if (method === "GET") return [200, this.#eventView(event)];
    if (headers["If-Match"] !== `"${event.version}"`) return problem("version-mismatch");
    Object.assign(event, body, { version: event.version + 1 });
    return [200, this.#eventView(event)];
  }

  #deed(name: string, deed: ReturnType<typeof deedOf>, match: string | undefined): Reply {
    const event = this.events.get(name);
    if (event === undefined) return problem("event-not-found");
    if (match !== undefined && match !== `"${event.version}"`) return problem("version-mismatch");
    const refusal = deed(event, this.clock.now());
    return refusal === undefined ? [200, this.#eventView(event)] : problem(refusal);
  }

  #serviceToken(event: string, { name, lifetimeSeconds, expiresAt }: ServiceTokenRequest): Reply {
    const settings = this.events.get(event);
    if (settings === undefined) return problem("event-not-found");
    const now = this.clock.now();
    const end = lifetimeSeconds === undefined ? settings.endsAt : now + lifetimeSeconds * 1_000;
    const rules = settings.bypass.flatMap(({ services }, rule) =>
      services?.includes(name) === true ? [rule] : [],
    );
    this.#numbers += 1;
    const jti = `jti-${this.#numbers}`;
    const token = `service.${name}.${this.#numbers}`;
    return [201, { event, name, token, jti, expiresAt: expiresAt ?? end, rules }];
  }

  /** Two calls: 200,000 rows, and the rest. */
  #archive(name: string): Reply {
    const event = this.events.get(name);
    if (event === undefined && !this.archived.has(name)) return problem("event-not-found");
    const done = this.archived.has(name);
    this.events.delete(name);
    this.archived.add(name);
    const figures = { issued: 900, highestNumber: 1_000, claimed: 800, lapsed: 100, endedAt: 1 };
    const deleted = done ? 17 : 200_000;
    return [200, { event: name, archivedAt: this.clock.now(), figures, deleted, done }];
  }

  #premint(batch: string, subs: readonly string[]): Reply {
    const known = this.premints.get(batch);
    if (known !== undefined && known.subs !== subs.join()) return problem("conflict");
    const first = known?.first ?? this.#numbers + 1;
    if (known === undefined) this.#numbers += subs.length;
    this.premints.set(batch, { first, subs: subs.join() });
    return [200, { first, tickets: subs.map((sub, index) => `ticket.${first + index}.${sub}`) }];
  }

  async #claimPremint(
    batch: string,
    { subs, whose, confirmed }: PremintClaimsRequest,
  ): Promise<Reply> {
    const now = this.clock.now();
    const known = this.premints.get(batch);
    if ((this.events.get("spring")?.endsAt ?? 0) <= now) return problem("event-ended");
    if (known === undefined) return problem("not-found");
    if (known.subs !== subs.join()) return problem("conflict");
    const key = this.#signer("admission");
    const claims = whose.map((index) =>
      this.line.claim({
        ...{ n: known.first + index, sub: subs[index] ?? "", confirmed, now },
        ...{ issuer: ISSUER, key },
      }),
    );
    return [200, { claims: await Promise.all(claims) }];
  }

  /** What differs is worked out, what comes of it is the test's. */
  #preview(name: string, headers: Readonly<Record<string, string>>, change: object): Reply {
    const event = this.events.get(name);
    if (event === undefined) return problem("event-not-found");
    if (headers["If-Match"] !== `"${event.version}"`) return problem("version-mismatch");
    const changes = Object.entries(change)
      .map(([field, after]) => ({ field, before: event[field as keyof Event], after }))
      .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
    const common = { version: event.version, at: this.clock.now(), endsAt: event.endsAt };
    return [200, { ...common, event: name, changes, ...this.outlook }];
  }

  #eventView(event: Event): object {
    const isEnded = this.clock.now() >= Math.min(event.endsAt, event.endedAt ?? Infinity);
    const state = isEnded ? "ended" : event.hold === undefined ? "open" : "paused";
    const figures = { highestNumber: 900, waiting: 400, upcoming: 50, serving: 450 };
    const archivable =
      event.rehearsal === true ? {} : { archivableAt: event.endsAt + 30 * 86_400_000 };
    return {
      ...{
        createdAt: 1,
        ...heldView(event),
        ...archivable,
        ...figures,
        state,
        rate: event.ratePerMinute,
      },
      ...{ claimed: 400, lapsed: 12 },
    };
  }

  async #line(name: string, what: string, body: Readonly<Record<string, string>>): Promise<Reply> {
    const event = this.events.get(name);
    const now = this.clock.now();
    if (event === undefined) return problem("event-not-found");
    if (what === "drip") return [200, await this.#drip(event)];
    if (now >= event.endsAt) return problem("event-ended");
    const sub = hashVisitor(body["visitor"] ?? "");
    const common = { issuer: ISSUER, event: name, sub, iat: toSeconds(now) };
    if (what === "tickets") {
      this.#numbers += 1;
      const number = ticketNumber(this.#numbers);
      const ticket = await signTicket(this.#signer("line"), {
        ...{ ...common, place: { number } },
        exp: epochSeconds(Math.floor(event.endsAt / 1_000)),
      });
      return [201, { event: name, number, issuedAt: now, ticket }];
    }
    const admission = await signAdmission(this.#signer("admission"), {
      ...{ ...common, number: ticketNumber(this.#numbers), action: "purchase", opensAt: now },
      lifetimeSeconds: event.lifetimeSeconds,
    });
    return [201, { opensAt: now, closesAt: now + event.lifetimeSeconds * 1_000, admission }];
  }

  #drip({ event, endsAt }: Event): Promise<string> {
    const now = this.clock.now();
    const iat = toSeconds(now);
    return signDrip(this.#signer("line"), {
      ...{ iss: ISSUER, aud: event, iat, exp: iat + 3_600, at: now, seq: now, keysSeq: this.seq },
      ...{ state: "open", segments: [], serving: 0, committed: 0, skips: [], issued: 0, rate: 1 },
      ...{ notice: "", cuts: [], endsAt },
      ...(now >= endsAt ? { state: "ended" } : this.line.drip(now)),
    });
  }

  #manifest(): Promise<string> {
    const now = this.clock.now();
    const iat = toSeconds(now);
    const events = [...this.events.values()].map(
      ({ event, title, hosts, paths, homePath, lifetimeSeconds, claimWindowSeconds, endsAt }) => ({
        ...{ event, title, hosts, paths, homePath, lifetimeSeconds, claimWindowSeconds, endsAt },
        ...{ bypass: [], holdingStatus: 200, accent: "#000000" },
      }),
    );
    const claims = { iss: ISSUER, iat, exp: iat + 86_400, seq: now, keysSeq: this.seq, events };
    return signManifest(this.#signer("line"), claims);
  }
}

function problem(code: ProblemCode, extensions: Record<string, unknown> = {}): Reply {
  return [PROBLEMS[code].status, problemDocument(code, { extensions })];
}
