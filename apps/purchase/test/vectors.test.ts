/** Law 5 from outside: the frozen vectors at the purchase API's door, each with its keys, its terms and its clock. */
import type { DripClaims } from "@vestibule/contracts/statements";
import { sleep } from "@vestibule/feed/fetch-text.system";
import { createMintFeed } from "@vestibule/feed/mint-feed";
import { ok } from "@vestibule/kernel/result";
import { epochMs } from "@vestibule/kernel/units";
import { silentLog } from "@vestibule/service/log";
import { signDrip, signManifest } from "@vestibule/token/sign";
import admissions from "@vestibule/token/vectors/admission.json" with { type: "json" };
import { afterEach, describe, expect, test, vi } from "vitest";
import { createMintKnowledge } from "../src/mint-knowledge.ts";
import { atTheDoor, codeOf } from "./door.ts";
import { eventOf, newSigningKey } from "./purchase-world.ts";

type Options = typeof admissions.options;
interface Vector {
  readonly name: string;
  readonly token: string;
  readonly jwks?: { readonly keys: readonly object[] };
  readonly options: Partial<Options>;
  readonly expected: { readonly ok: boolean; readonly reason?: string };
}
const vectors = admissions.vectors as readonly Vector[];

/** The mint's statements are signed by a key of their own. */
const statements = await newSigningKey();

/** What it says to the vector: `good`, `over`, or the code of its refusal; and what its log says. */
async function answerTo(
  { token, jwks = admissions.jwks, options: own }: Vector,
  whenKnown: () => void = () => {},
) {
  const options = { ...admissions.options, ...own };
  const { event, issuer, nowMs, skewSeconds, lifetimeSeconds } = options;
  const now = epochMs(nowMs);
  const iat = Math.floor(nowMs / 1_000);
  const common = { iss: issuer, iat, exp: iat + 3_600, seq: 1 };
  const drip: DripClaims = {
    ...{ ...common, aud: event, at: nowMs, state: "open", segments: [], serving: 9, committed: 9 },
    ...{ skips: [], issued: 9, rate: 60, notice: "", cuts: [], endsAt: 253_402_300_000_000 },
  };
  const texts: Readonly<Record<string, () => Promise<string>>> = {
    "/.well-known/jwks.json": async () => {
      const line = { ...statements.publicJwk, vst_use: "line" };
      return JSON.stringify({ keys: [...jwks.keys, line] });
    },
    "/v1/manifest": () => {
      const events = [{ ...eventOf(event), lifetimeSeconds }];
      return signManifest(statements.signingKey, { ...common, events });
    },
    [`/v1/events/${event}/drip`]: () => signDrip(statements.signingKey, drip),
  };
  const feed = createMintFeed({
    ...{ mintUrls: ["https://mint.test"], issuer, skewSeconds, sleep },
    fetchText: async ({ url }) =>
      ok({ text: (await texts[new URL(url).pathname]?.()) ?? "", roundTripMs: 1 }),
  });
  const mint = createMintKnowledge(feed);
  await feed.whenKnown("keys", now);
  await feed.whenKnown("manifest", now);
  whenKnown();
  const reasons: unknown[] = [];
  const log = {
    ...silentLog,
    info: (_event: string, fields?: object) =>
      void reasons.push(Object.entries(fields ?? {}).find(([name]) => name === "reason")?.[1]),
  };
  const shown = { event, admission: token, visitor: options.visitor ?? "", now };
  const answer = await codeOf(atTheDoor(shown, { mint, issuer, skewSeconds, log }));
  return { answer, reasons };
}

test.each(vectors)("$name", async (vector) => {
  const { expected } = vector;
  const { answer, reasons } = await answerTo(vector);
  if (expected.ok) expect(answer).toBe("good");
  // What was good once may have been bought with: an earlier answer is told again.
  else expect(answer).toBe(expected.reason === "over" ? "over" : "admission-required");
  const isMissing = vector.token === "" || expected.reason === "wrong-visitor";
  if (!expected.ok && !isMissing) expect(reasons).toEqual([expected.reason]);
});

describe("KR-09: a runtime that cannot verify", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each(["importKey", "verify"] as const)(
    "is our fault, 503 and never a bad token, when %s fails from the start",
    async (verb) => {
      vi.spyOn(crypto.subtle, verb).mockRejectedValue(new Error("not supported"));
      expect(await answerTo(vectors[0]!)).toEqual({ answer: "unavailable", reasons: [] });
    },
  );

  test("is so, too, when it begins later", async () => {
    const failing = () =>
      void vi.spyOn(crypto.subtle, "verify").mockRejectedValue(new Error("not supported"));
    const { answer, reasons } = await answerTo(vectors[0]!, failing);
    expect([answer, reasons]).toEqual(["unavailable", ["cannot-verify"]]);
  });
});
