/**
 * A flood of made-up `kid`s against one location, in virtual time: the edge's own check of admissions and the real feed,
 * without HTTP, so that a million requests take seconds. A process of its own.
 */
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { type Admissions, createAdmissions } from "@vestibule/edge/src/admission/admissions.ts";
import { createMintFeed, type MintFeed } from "@vestibule/feed/mint-feed";
import type { CachedText, FetchText } from "@vestibule/feed/ports";
import { ok } from "@vestibule/kernel/result";
import { type EpochMs, addMs, epochMs } from "@vestibule/kernel/units";

import { type Admitted, createEdgeSigner, type EdgeSigner } from "../edge-signer.ts";
import { EVENT, ISSUER, manifestClaims } from "../edge-world.ts";
import type { FromFlood, ToFlood } from "./flood-messages.ts";
import { withJunkKid } from "./junk-kid.ts";

/** At the whole location. */
const PER_SECOND = 5_000;
/** Every so many requests one comes with a good admission. */
const GOOD_EVERY = 50;
const ADMISSIONS = 256;
const SKEW_SECONDS = 5;
/** Requests after which the heap is looked at for the first time: what is made once is there. */
const BEGUN = 100_000;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

interface Isolate {
  readonly feed: MintFeed;
  readonly admissions: Admissions;
}

class Location {
  keySets = 0;
  readonly #signer: EdgeSigner;
  readonly #shared = new Map<string, CachedText>();
  /** What the mint answers now. */
  readonly #statements = new Map<string, string>();

  constructor(signer: EdgeSigner) {
    this.#signer = signer;
  }

  isolate(): Isolate {
    const feed = createMintFeed({
      mintUrls: ["https://mint.bench.example"],
      ...{ issuer: ISSUER, skewSeconds: SKEW_SECONDS, fetchText: this.#fetchText },
      sleep: () => turn(),
      cache: {
        get: (key) => Promise.resolve(this.#shared.get(key)),
        put: (key, entry) => Promise.resolve(void this.#shared.set(key, entry)),
      },
    });
    return {
      feed,
      admissions: createAdmissions(feed, { issuer: ISSUER, skewSeconds: SKEW_SECONDS }),
    };
  }

  /** The statements of this second. */
  async sign(now: EpochMs): Promise<void> {
    this.#statements.set("manifest", await this.#signer.manifest(now));
    this.#statements.set("drip", await this.#signer.drip(now));
  }

  readonly #fetchText: FetchText = async ({ url }) => {
    if (url.endsWith("/jwks.json")) {
      this.keySets += 1;
      return ok({ text: this.#signer.jwks, roundTripMs: 1 });
    }
    const text = this.#statements.get(url.slice(url.lastIndexOf("/") + 1)) ?? "";
    return ok({ text, roundTripMs: 1 });
  };
}

/** As every visit does: what is due is asked for. */
async function keepFresh({ feed }: Isolate, now: EpochMs): Promise<void> {
  for (const thing of ["keys", "manifest", `drip:${EVENT}`] as const)
    if (feed.refreshDue(thing, now)) await feed.refresh(thing, now);
}

async function flood({ isolates: count, requests }: ToFlood): Promise<FromFlood> {
  const signer = await createEdgeSigner();
  const location = new Location(signer);
  const isolates = Array.from({ length: count }, () => location.isolate());
  const admissions = await signer.admissions(ADMISSIONS);
  const startedAt = epochMs(Date.now());
  const [event] = manifestClaims(startedAt).events;
  if (event === undefined) throw new Error("no event");
  const seen = { admitted: 0, good: 0, junkAdmitted: 0 };
  const show = async (index: number, now: EpochMs): Promise<void> => {
    const isolate = isolates[index % count];
    const { visitor, token } = admissions[index % ADMISSIONS] as Admitted;
    if (isolate === undefined) return;
    await keepFresh(isolate, now);
    const isGood = index % GOOD_EVERY === 0;
    const admission = isGood ? token : withJunkKid(token);
    const shown = { visitor, admission, ticket: undefined, tokenMode: false, byCookie: true };
    const { kind } = await isolate.admissions.check(shown, event, now);
    if (isGood) seen.good += 1;
    if (kind === "admitted") seen[isGood ? "admitted" : "junkAdmitted"] += 1;
  };

  let begun = 0;
  let now = startedAt;
  for (let index = 0; index < requests; index += 1) {
    if (index % PER_SECOND === 0) await location.sign(now);
    if (index === Math.min(BEGUN, requests - 1)) begun = heapBytes();
    now = addMs(startedAt, Math.floor((index * 1_000) / PER_SECOND));
    await show(index, now);
  }
  const elapsedMs = now - startedAt;
  const { keySets } = location;
  return { type: "flooded", elapsedMs, keySets, ...seen, heapBytes: [begun, heapBytes()] };
}

process.on("message", (order: ToFlood) => {
  flood(order)
    .catch((error: unknown): FromFlood => ({ type: "failed", message: String(error) }))
    .then((answer) => process.send?.(answer))
    .catch(() => process.exit(1));
});
process.on("disconnect", () => process.exit(0));
