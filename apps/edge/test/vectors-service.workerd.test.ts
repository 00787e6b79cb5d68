/** Law 5 from outside: the frozen vectors of services' tokens as requests at the gate, each with its keys and its clock. */
import services from "@vestibule/token/vectors/service.json" with { type: "json" };
import { epochMs } from "@vestibule/kernel/units";
import type { PublicJwk } from "@vestibule/keys/public-key";
import { expect, test } from "vitest";
import { EVENT, ISSUER, createWorld } from "./world.ts";

type Options = typeof services.options;
interface Vector {
  readonly name: string;
  readonly token: string;
  readonly jwks?: { readonly keys: readonly object[] };
  readonly options: Partial<Options>;
  readonly expected: { readonly ok: boolean };
}
const vectors = services.vectors as readonly Vector[];

/** What a client can send: a header is one line, and here without what is not ASCII. */
const sendable = vectors.filter(({ token }) => /^[!-~]([ -~]*[!-~])?$/.test(token));
/** All names that good ones have, and some that bad ones have. */
const NAMES = ["payments", "a", "a".repeat(64), "pay-2-you"];

test("are the ones of this mint, and nearly all of them can be sent", () => {
  expect(services.options.issuer).toBe(ISSUER);
  expect(vectors.length - sendable.length).toBeLessThan(10);
});

test.each(sendable)("$name", async ({ token, jwks = services.jwks, options, expected }) => {
  const { event, nowMs, skewSeconds } = { ...services.options, ...options };
  const world = await createWorld({ config: { skewSeconds } });
  // The mint's statements are signed by a key of their own.
  const [statements] = world.keys;
  world.keys = [...(jwks.keys as PublicJwk[]), { ...statements!, vst_use: "line" }];
  const rule = { rule: 0, paths: ["/events/demo/hook"], services: NAMES };
  world.manifest = [{ ...EVENT, event, conditionalBypass: [rule] }];
  world.now = epochMs(nowMs);
  const answer = await world.post("/events/demo/hook", {
    headers: { Accept: "application/json", "Vestibule-Service": token },
  });
  await world.settle();
  expect(answer.status).toBe(expected.ok ? 200 : 429);
  expect(world.toOrigin()).toHaveLength(expected.ok ? 1 : 0);
});
