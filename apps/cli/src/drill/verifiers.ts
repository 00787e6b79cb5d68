/**
 * Verifiers in this process, by the code of edge, purchase API and guard, with clocks of their own: some learn of
 * the mint as a location does, some know a copy of the key set of some age and ask nobody.
 */
import { SKEW_SECONDS_DEFAULT } from "@vestibule/contracts/limits";
import { createMintFeed, type MintFeed } from "@vestibule/feed/mint-feed";
import { dripOf, type Thing } from "@vestibule/feed/thing";
import type { FetchText } from "@vestibule/feed/ports";
import { addMs, type EpochMs } from "@vestibule/kernel/units";
import type { KeySet } from "@vestibule/keys/key-set";
import { judgeAdmission, type Statements } from "@vestibule/token/judge-admission";
import { verifyTicket } from "@vestibule/token/verify-ticket";
import { SHOWN_TO_VERIFIER_MAX } from "../limits.ts";
import { ACCEPTED, type Checker, type SetMark, type Verdict, type Verdicts } from "./checker.ts";
import type { KeyHistory } from "./key-history.ts";
import type { Shown } from "./shown.ts";

export interface VerifierWorld {
  readonly mintUrl: string;
  readonly issuer: string;
  readonly event: string;
  readonly lifetimeSeconds: number;
  readonly fetchText: FetchText;
  readonly sleep: (ms: number) => Promise<void>;
  /** The mint's clock. */
  readonly now: () => EpochMs;
  readonly history: KeyHistory;
}

/** A second inside of the tolerance: the mint's clock is only estimated. */
const OFF_MS = (SKEW_SECONDS_DEFAULT - 1) * 1_000;

interface Kind {
  /** Seconds by which its key set is behind; `undefined`: it asks, as locations do. */
  readonly behindSeconds: number | undefined;
  readonly offMs: number;
}

/** At both ends of the tolerance, and with the oldest copy of the key set that any location may go by. */
function kinds(oldestSeconds: number): readonly Kind[] {
  return [
    { behindSeconds: undefined, offMs: 0 },
    { behindSeconds: undefined, offMs: OFF_MS },
    { behindSeconds: undefined, offMs: -OFF_MS },
    { behindSeconds: 60, offMs: -OFF_MS },
    { behindSeconds: oldestSeconds, offMs: OFF_MS },
    { behindSeconds: oldestSeconds, offMs: -OFF_MS },
  ];
}

/** @param oldestSeconds how old a copy of the key set may be: the policy's. */
export function createVerifiers(world: VerifierWorld, oldestSeconds: number): readonly Checker[] {
  return kinds(oldestSeconds).map(({ behindSeconds, offMs }, index) => {
    const sign = offMs < 0 ? "-" : "+";
    const clock = offMs === 0 ? "clock right" : `clock ${sign}${Math.abs(offMs) / 1_000} s`;
    const number = `verifier-${index + 1}`;
    return behindSeconds === undefined
      ? learning(world, { name: `${number} (${clock})`, offMs })
      : copying(world, {
          ...{ name: `${number} (cache ${behindSeconds} s old, ${clock})`, offMs, behindSeconds },
        });
  });
}

/** As a location, the purchase API and the guard do: packages/feed, and one look at newer keys for an unknown kid. */
function learning(world: VerifierWorld, { name, offMs }: { name: string; offMs: number }): Checker {
  const { mintUrl, issuer, event, fetchText, sleep } = world;
  const feed = createMintFeed({
    ...{ mintUrls: [mintUrl], issuer, skewSeconds: SKEW_SECONDS_DEFAULT, fetchText, sleep },
  });
  const now = (): EpochMs => addMs(world.now(), offMs);
  return {
    ...base(name, offMs),
    isHeldBack: false,
    async live() {
      for (const thing of ["keys", "manifest", dripOf(event)] satisfies Thing[])
        if (feed.refreshDue(thing, now())) await feed.refresh(thing, now());
    },
    async check(shown) {
      const keys = feed.keys(now());
      if (keys === undefined || feed.drip(event) === undefined)
        return unanswered("knows no keys yet");
      return verdicts(world, shown, {
        keys,
        now: now(),
        statements: statementsOf(feed, event, now),
      });
    },
    hasSet: (mark) => isNewSet(feed.keys(now()), mark),
  };
}

function statementsOf(feed: MintFeed, event: string, now: () => EpochMs): Statements {
  return {
    newerKeys: async () => {
      await feed.newerKeys(now());
      return feed.keys(now());
    },
    keys: () => feed.keys(now()),
    drip: () => Promise.resolve(feed.drip(event)?.claims),
  };
}

/** A library that was given a key set, and has not looked again for as long as anybody may. */
function copying(
  world: VerifierWorld,
  { name, offMs, behindSeconds }: { name: string; offMs: number; behindSeconds: number },
): Checker {
  let keys: KeySet | undefined;
  return {
    ...base(name, offMs),
    isHeldBack: true,
    async live() {
      keys = await world.history.at(world.now() - behindSeconds * 1_000);
    },
    async check(shown) {
      const set = keys;
      if (set === undefined) return unanswered("has no copy of the key set");
      const statements: Statements = {
        newerKeys: () => Promise.resolve(set),
        keys: () => set,
        drip: () => Promise.resolve(undefined),
      };
      return verdicts(world, shown, { keys: set, now: addMs(world.now(), offMs), statements });
    },
    hasSet: (mark) => isNewSet(keys, mark),
  };
}

function base(name: string, offMs: number): Pick<Checker, "name" | "kind" | "clock" | "fansMax"> {
  return {
    name,
    kind: "verifier",
    clock: { aheadMsMin: offMs, aheadMsMax: offMs, skewMs: SKEW_SECONDS_DEFAULT * 1_000 },
    fansMax: SHOWN_TO_VERIFIER_MAX,
  };
}

async function verdicts(
  { issuer, event, lifetimeSeconds }: VerifierWorld,
  { visitor, ticket, admission }: Shown,
  by: { keys: KeySet; now: EpochMs; statements: Statements },
): Promise<Verdicts> {
  const { keys, now, statements } = by;
  const options = { keys, now, issuer, event, visitor, skewSeconds: SKEW_SECONDS_DEFAULT };
  const judged = await judgeAdmission(
    admission,
    { ...options, lifetimeSeconds, action: "purchase" },
    statements,
  );
  let read = await verifyTicket(ticket, options);
  if (!read.ok && read.refusal.reason === "unknown-key") {
    const newer = await statements.newerKeys();
    if (newer !== undefined) read = await verifyTicket(ticket, { ...options, keys: newer });
  }
  return { admission: verdictOf(judged), ticket: verdictOf(read) };
}

function verdictOf(
  result: { ok: true } | { ok: false; refusal: { readonly reason: string } },
): Verdict {
  return result.ok ? ACCEPTED : { kind: "refused", reason: result.refusal.reason };
}

function unanswered(reason: string): Verdicts {
  const verdict: Verdict = { kind: "unanswered", reason };
  return { admission: verdict, ticket: verdict };
}

function isNewSet(keys: KeySet | undefined, { retiring }: SetMark): boolean {
  return keys?.get(retiring)?.until !== undefined;
}
