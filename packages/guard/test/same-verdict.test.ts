/** Law 5: the guard never disagrees with the verifier that edge and purchase API run. */
import { readFileSync } from "node:fs";
import { createGuard } from "@vestibule/guard";
import { epochMs, epochSeconds } from "@vestibule/kernel/units";
import { parseJwks } from "@vestibule/keys/key-set";
import { cutOf, isHeldForAll } from "@vestibule/token/cuts";
import { signManifest } from "@vestibule/token/sign";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  EVENT,
  ISSUER,
  LIFETIME_SECONDS,
  MINT,
  OTHER_VISITOR,
  START_MS,
  VISITOR,
  World,
  eventOf,
  newPair,
  requestWith,
} from "./world.ts";

interface Options {
  readonly issuer: string;
  readonly event: string;
  readonly lifetimeSeconds: number;
  readonly visitor: string | null;
  readonly nowMs: number;
  readonly skewSeconds: number;
}
interface Jwks {
  readonly keys: readonly object[];
}
interface VectorFile {
  readonly options: Options;
  readonly jwks: Jwks;
  readonly vectors: readonly {
    readonly name: string;
    readonly token: string;
    readonly jwks?: Jwks;
    readonly options: Partial<Options>;
    readonly expected: { readonly ok: boolean; readonly reason?: string };
  }[];
}

const FOLDER = new URL("../../token/vectors/", import.meta.url);
const file = JSON.parse(readFileSync(new URL("admission.json", FOLDER), "utf8")) as VectorFile;

/** What the mint of the vectors signs its statements with: none of them speaks of those. */
const statements = await newPair();

/** A mint of the vector's keys that states the vector's terms; no drip is known. */
async function verdictOn(
  token: string,
  { jwks, ...options }: Options & { readonly jwks: Jwks },
): Promise<{ ok: boolean; reason?: string }> {
  const { issuer, event, lifetimeSeconds, nowMs, skewSeconds, visitor } = options;
  const iat = epochSeconds(Math.floor(nowMs / 1000));
  const events = [eventOf(event, { lifetimeSeconds })];
  const statement = { iss: issuer, iat, exp: iat + 3_600, seq: 1, events };
  const manifest = await signManifest(statements.signingKey, statement);
  const keys = [...jwks.keys, { ...statements.publicJwk, vst_use: "line" }];
  const guard = createGuard({
    ...{ mintUrls: MINT, issuer, event, skewSeconds, now: () => nowMs },
    fetch: ((url: string) => {
      if (url.endsWith("/jwks.json")) return Promise.resolve(Response.json({ keys }));
      const known = url.endsWith("/v1/manifest");
      return Promise.resolve(new Response(known ? manifest : "", { status: known ? 200 : 404 }));
    }) as never,
  });
  const shown = new Map([
    ["Vestibule-Admission", token],
    ...(visitor === null ? [] : [["Vestibule-Visitor", visitor] as const]),
  ]);
  return guard.check({ headers: { get: (name) => shown.get(name) ?? null } });
}

describe("the frozen vectors", () => {
  test("are there", () => {
    expect(file.vectors.length).toBeGreaterThan(150);
    expect(file.vectors.filter(({ expected }) => expected.ok).length).toBeGreaterThan(10);
  });

  test.each(file.vectors)("$name", async ({ token, jwks = file.jwks, options, expected }) => {
    const verdict = await verdictOn(token, { jwks, ...file.options, ...options });
    expect(verdict.ok).toBe(expected.ok);
    if (expected.ok) return;
    // What has not even the form is refused before the verifier is asked, whatever else is wrong with it.
    const early = ["missing", "malformed"].includes(verdict.reason ?? "");
    if (!early) expect(verdict.reason).toBe(expected.reason);
  });
});

test("whatever is signed, held, shown and whenever: the same verdict as the rules themselves", async () => {
  const world = await World.create();
  const stranger = await newPair();
  const keys = await parseJwks({ keys: world.jwks });
  if (!keys.ok) throw new Error(keys.refusal.reason);
  const moment = fc.integer({ min: -700, max: 700 }).map((seconds) => START_MS + seconds * 1000);
  const edges = fc.constantFrom(
    -6_001,
    -6_000,
    -5_001,
    -5_000,
    -1,
    0,
    4_999,
    5_000,
    604_999,
    605_000,
  );
  const arbitrary = fc.record({
    opensAt: fc.oneof(
      moment,
      edges.map((offset) => START_MS - offset - (offset % 1_000)),
    ),
    signedAt: moment,
    milliseconds: fc.integer({ min: 0, max: 999 }),
    lifetimeSeconds: fc.constantFrom(1, LIFETIME_SECONDS - 1, LIFETIME_SECONDS, 601),
    event: fc.constantFrom(EVENT, EVENT, EVENT, "autumn-sale"),
    genuine: fc.boolean().map((other) => (other ? world.pair : stranger)),
    visitorShown: fc.constantFrom(VISITOR, VISITOR, VISITOR, OTHER_VISITOR),
    skewSeconds: fc.constantFrom(0, 5, 60),
    hold: fc.option(
      fc.record({ since: moment, scope: fc.constantFrom("entries" as const, "all" as const) }),
    ),
    cut: fc.option(fc.tuple(moment, moment)),
  });
  const good = {
    ...({
      opensAt: START_MS - 60_000,
      signedAt: START_MS - 60_000,
      milliseconds: 0,
      event: EVENT,
    } as const),
    ...({ lifetimeSeconds: LIFETIME_SECONDS, genuine: world.pair, visitorShown: VISITOR } as const),
    ...({ skewSeconds: 5, hold: null, cut: null } as const),
  };
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(arbitrary, async (each) => {
      const { opensAt, lifetimeSeconds, event, genuine, visitorShown, skewSeconds } = each;
      world.now = START_MS + each.milliseconds;
      world.drip = {
        ...(each.hold === null ? {} : { heldSince: each.hold.since, heldScope: each.hold.scope }),
        cuts: each.cut === null ? [] : [{ since: each.cut[0], until: each.cut[1] }],
      };
      const token = await world.admission({
        ...{ opensAt, lifetimeSeconds, event, key: genuine.signingKey },
        iat: each.signedAt / 1000,
      });
      const rules = await verifyAdmission(token, {
        ...{ keys: keys.value, issuer: ISSUER, event: EVENT, action: "purchase", skewSeconds },
        ...{ lifetimeSeconds: LIFETIME_SECONDS, visitor: visitorShown, now: epochMs(world.now) },
      });
      const drip = { cuts: [], ...world.drip };
      const expected = !rules.ok
        ? rules.refusal.reason
        : (cutOf(rules.value, drip) ?? (isHeldForAll(drip) ? "held" : "admitted"));
      const verdict = await world.guard({ skewSeconds }).check(requestWith(token, visitorShown));
      expect(verdict.ok ? "admitted" : verdict.reason).toBe(expected);
      seen.add(expected);
    }),
    { examples: [[good]] },
  );
  expect(seen.has("admitted")).toBe(true); // the example: the property compared something
});
