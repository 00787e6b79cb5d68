/**
 * One location of the edge: isolates with the real feed, the real verifiers and the real memory of what was verified,
 * one shared cache, one clock. What `apps/edge/src/api` does around them is here without HTTP.
 */
import type { ClaimAnswer, JoinAnswer } from "@vestibule/contracts/line-api";
import type { DripView, ManifestEvent } from "@vestibule/contracts/statements";
import { type Admissions, createAdmissions } from "@vestibule/edge/src/admission/admissions.ts";
import type { Credentials } from "@vestibule/edge/src/admission/credentials.ts";
import {
  asksPresence,
  createTickets,
  type Tickets,
  turnOf,
} from "@vestibule/edge/src/admission/tickets.ts";
import { GRANT_DEADLINE_MS } from "@vestibule/edge/src/limits.ts";
import { DRIP_STALE_MS, MANIFEST_STALE_MS } from "@vestibule/feed/limits";
import { createMintFeed, type MintFeed } from "@vestibule/feed/mint-feed";
import type { CachedText, FetchText } from "@vestibule/feed/ports";
import type { Thing } from "@vestibule/feed/thing";
import { ok, refuse } from "@vestibule/kernel/result";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import type { Machine } from "../world/machine.ts";
import type { Network } from "../world/network.ts";
import { ISSUER, type MintAnswer, type MintProcess, SKEW_SECONDS } from "./mint-process.ts";

/** A place where a process of the mint runs, by its address. */
export interface MintAddress {
  readonly url: string;
  /** The present process; `undefined`: nobody listens. */
  readonly process: () => MintProcess | undefined;
}

export interface LocationParts {
  readonly machine: Machine;
  readonly network: Network;
  readonly random: SeededRandomness;
  readonly mints: readonly MintAddress[];
  readonly event: string;
  readonly isolates: number;
  /** Of its verifiers. */
  readonly skewSeconds: number;
}

export type EdgeAnswer<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly status: number; readonly retryAfterMs: number };

const STATUS: Readonly<Record<string, number>> = {
  forbidden: 403,
  "slot-over": 410,
  "event-ended": 410,
  "sold-out": 409,
  "confirm-presence": 409,
  "too-early": 425,
  held: 503,
  unavailable: 503,
};

export class Isolate {
  readonly feed: MintFeed;
  readonly tickets: Tickets;
  readonly admissions: Admissions;
  readonly #parts: LocationParts;

  constructor(parts: LocationParts, cache: Map<string, CachedText>) {
    this.#parts = parts;
    const { machine, mints, skewSeconds } = parts;
    this.feed = createMintFeed({
      mintUrls: mints.map(({ url }) => url),
      issuer: ISSUER,
      skewSeconds,
      fetchText: fetchText(parts),
      sleep: (ms) => machine.sleep(ms),
      cache: {
        get: (key) => Promise.resolve(cache.get(key)),
        put: async (key, entry) => void cache.set(key, entry),
      },
    });
    const options = { issuer: ISSUER, skewSeconds };
    this.tickets = createTickets(this.feed, options);
    this.admissions = createAdmissions(this.feed, options);
  }

  /** `GET …/drip`. */
  async drip(): Promise<EdgeAnswer<DripView>> {
    const { event, machine } = this.#parts;
    const now = machine.clock.now();
    const thing: Thing = `drip:${event}`;
    if (this.feed.drip(event) === undefined) await this.feed.whenKnown(thing, now);
    else await this.#refresh(thing, DRIP_STALE_MS);
    const known = this.feed.drip(event);
    if (known === undefined) return unavailable();
    const { iss: _iss, aud: _aud, keysSeq: _keysSeq, ...rest } = known.claims;
    return { ok: true, body: { event, ...rest } };
  }

  /** `POST …/tickets`. */
  async join(credentials: Credentials): Promise<EdgeAnswer<JoinAnswer>> {
    const { event, machine } = this.#parts;
    const about = await this.#event();
    if (about === undefined || credentials.visitor === undefined) return unavailable();
    const now = machine.clock.now();
    const { visitor } = credentials;
    const place = await this.tickets.check(credentials, about, now);
    const drip = this.feed.drip(event);
    if (place === undefined && drip?.claims.state === "soldout") return refused(409, 30_000);
    if (place !== undefined) {
      const turn = turnOf(place.number, drip, about);
      const keeps = turn.kind === "committed" ? now <= turn.claimBy : turn.kind !== "passed";
      if (keeps && !place.outgrown) {
        const { number, ticket, issuedAt } = place;
        return { ok: true, body: { event, number, ticket, issuedAt: issuedAt * 1_000 } };
      }
    }
    const body = { visitor, ...(place === undefined ? {} : { ticket: place.ticket }) };
    return this.#ask((mint) => mint.join(event, body));
  }

  /** `POST …/admissions`; `confirmed`: the fan has said that they are there. */
  async claim(credentials: Credentials, confirmed: boolean): Promise<EdgeAnswer<ClaimAnswer>> {
    const { event, machine } = this.#parts;
    const about = await this.#event();
    if (about === undefined) return unavailable();
    const now = machine.clock.now();
    const place = await this.tickets.check(credentials, about, now);
    if (place === undefined) return refused(403, 0);
    await this.feed.whenKnown(`drip:${event}`, now);
    const drip = this.feed.drip(event);
    if (drip?.claims.state === "ended") return refused(410, 0);
    const turn = turnOf(place.number, drip, about);
    if (turn.kind === "held") return refused(503, 10_000);
    if (turn.kind === "committed" && now >= turn.closesAt + SKEW_SECONDS * 1_000) {
      return refused(410, 0);
    }
    if (turn.kind === "waiting" && drip !== undefined) {
      return drip.claims.state === "soldout" ? refused(409, 30_000) : refused(425, 2_000);
    }
    const asks = asksPresence(drip);
    if (turn.kind === "committed" && asks && !confirmed && now <= turn.claimBy) {
      return refused(409, 0);
    }
    const { visitor, ticket } = place;
    const said = confirmed && (asks || drip === undefined) ? { confirmed } : {};
    return this.#ask((mint) => mint.claim(event, { visitor, ticket, ...said }));
  }

  /** A page view of a protected path. */
  async enter(credentials: Credentials): Promise<"admitted" | "refused" | "unknown"> {
    const about = await this.#event();
    if (about === undefined) return "unknown";
    await this.#refresh(`drip:${this.#parts.event}`, DRIP_STALE_MS);
    const now = this.#parts.machine.clock.now();
    const { kind } = await this.admissions.check(credentials, about, now);
    return kind === "admitted" ? "admitted" : "refused";
  }

  /** As the manifest describes it; asked for when it is not known. */
  async #event(): Promise<ManifestEvent | undefined> {
    const { event, machine } = this.#parts;
    await this.feed.whenKnown("manifest", machine.clock.now());
    await this.#refresh("manifest", MANIFEST_STALE_MS);
    return this.feed.manifest()?.events.find((each) => each.event === event);
  }

  async #refresh(thing: Thing, staleMs: number): Promise<void> {
    const now = this.#parts.machine.clock.now();
    if (this.feed.refreshDue(thing, now)) void this.feed.refresh(thing, now);
    if (this.feed.isStale(thing, now, staleMs)) await this.feed.whenAnswered(thing, now);
  }

  /** The mints in their order, as apps/edge/src/mint-client.ts asks them. */
  async #ask<Body>(
    ask: (mint: MintProcess) => Promise<MintAnswer<Body>>,
  ): Promise<EdgeAnswer<Body>> {
    const { machine, mints } = this.#parts;
    const now = machine.clock.now();
    let isAway = true;
    for (const url of this.feed.mints.urls(now)) {
      const address = mints.find((mint) => mint.url === url);
      if (address === undefined) continue;
      const outcome = await askMint(this.#parts, address, GRANT_DEADLINE_MS, ask);
      if (outcome.kind !== "answer") {
        this.feed.mints.failed(url, now);
        continue;
      }
      const { answer } = outcome;
      if (answer.ok) {
        this.feed.mints.worked(url);
        return answer;
      }
      isAway = false;
      if (answer.code === "unavailable") continue;
      this.feed.mints.worked(url);
      return refused(STATUS[answer.code] ?? 500, (answer.retryAfterSeconds ?? 0) * 1_000);
    }
    return isAway ? unavailable() : refused(503, 1_000);
  }
}

export class Location {
  readonly machine: Machine;
  readonly isolates: readonly Isolate[];
  readonly #random: SeededRandomness;

  constructor(parts: LocationParts) {
    const cache = new Map<string, CachedText>();
    this.machine = parts.machine;
    this.#random = parts.random;
    this.isolates = Array.from({ length: parts.isolates }, () => new Isolate(parts, cache));
  }

  /** Whichever the platform hands the request to. */
  any(): Isolate {
    return this.#random.pick(this.isolates);
  }
}

function askMint<Body>(
  { machine, network }: LocationParts,
  address: MintAddress,
  deadlineMs: number,
  ask: (mint: MintProcess) => Promise<MintAnswer<Body>>,
) {
  return network.call<MintAnswer<Body>>({
    from: machine,
    to: () => address.process()?.machine,
    link: `${machine.name}>${address.url}`,
    deadlineMs,
    serve: () => {
      const mint = address.process();
      return mint === undefined
        ? Promise.resolve({ ok: false, code: "unavailable", retryAfterSeconds: 1, extensions: {} })
        : ask(mint);
    },
  });
}

function fetchText(parts: LocationParts): FetchText {
  return async ({ url, deadlineMs }) => {
    const address = parts.mints.find((mint) => url.startsWith(mint.url));
    if (address === undefined) return refuse({ reason: "unreachable" });
    const path = url.slice(address.url.length).replace(/\?.*$/, "");
    const ask = (mint: MintProcess): Promise<MintAnswer<string>> => {
      if (path === "/.well-known/jwks.json") return mint.keys();
      return path === "/v1/manifest" ? mint.manifest() : mint.drip(parts.event);
    };
    const outcome = await askMint(parts, address, deadlineMs, ask);
    if (outcome.kind !== "answer") {
      return refuse({ reason: outcome.kind === "timeout" ? "timeout" : "unreachable" });
    }
    const { answer, roundTripMs } = outcome;
    if (!answer.ok) return refuse({ reason: "status", status: STATUS[answer.code] ?? 500 });
    return ok({ text: answer.body, roundTripMs });
  };
}

function refused<Body>(status: number, retryAfterMs: number): EdgeAnswer<Body> {
  return { ok: false, status, retryAfterMs };
}

function unavailable<Body>(): EdgeAnswer<Body> {
  return refused(503, 3_000);
}
