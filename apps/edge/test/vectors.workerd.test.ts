/** Law 5 from outside: the frozen vectors as requests at the gate, each with its keys, its terms and its clock. */
import admissions from "@vestibule/token/vectors/admission.json" with { type: "json" };
import { epochMs } from "@vestibule/kernel/units";
import type { PublicJwk } from "@vestibule/keys/public-key";
import { expect, test } from "vitest";
import { EVENT, ISSUER, createWorld } from "./world.ts";

type Options = typeof admissions.options;
interface Vector {
  readonly name: string;
  readonly token: string;
  readonly jwks?: { readonly keys: readonly object[] };
  readonly options: Partial<Options>;
  readonly expected: { readonly ok: boolean };
}
const vectors = admissions.vectors as readonly Vector[];

/** What a client can send: a header is one line, and here without what is not ASCII. */
const canBeSent = (text: string) => /^[!-~]([ -~]*[!-~])?$/.test(text);
const sendable = vectors.filter(
  ({ token, options: { visitor } }) => canBeSent(token) && canBeSent(visitor ?? "none"),
);

test("are the ones of this mint, and nearly all of them can be sent", () => {
  expect(admissions.options.issuer).toBe(ISSUER);
  expect(vectors.length - sendable.length).toBeLessThan(10);
});

test.each(sendable)("$name", async ({ token, jwks = admissions.jwks, options, expected }) => {
  const { event, lifetimeSeconds, nowMs, skewSeconds, visitor } = {
    ...admissions.options,
    ...options,
  };
  const world = await createWorld({ config: { skewSeconds } });
  // The mint's statements are signed by a key of their own.
  const [statements] = world.keys;
  world.keys = [...(jwks.keys as PublicJwk[]), { ...statements!, vst_use: "line" }];
  world.manifest = [{ ...EVENT, event, lifetimeSeconds }];
  world.now = epochMs(nowMs);
  const answer = await world.get("/events/demo", {
    headers: {
      Accept: "application/json",
      "Vestibule-Admission": token,
      ...(visitor === null ? {} : { "Vestibule-Visitor": visitor }),
    },
  });
  await world.settle();
  // 431: too large, before anything is looked at.
  expect(expected.ok ? [200] : [429, 431]).toContain(answer.status);
  expect(world.toOrigin()).toHaveLength(expected.ok ? 1 : 0);
});
