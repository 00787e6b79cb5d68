import { compactVerify, decodeProtectedHeader, importJWK } from "jose";
import { describe, expect, test } from "vitest";

import { type VectorSet, questionsOf } from "../conformance/pack.ts";
import { verdictOn } from "../conformance/reference.ts";
import admissionsEddsa from "../vectors/admission-eddsa.json" with { type: "json" };
import admissions from "../vectors/admission.json" with { type: "json" };
import credits from "../vectors/credit.json" with { type: "json" };
import drips from "../vectors/drip.json" with { type: "json" };
import keySetsEddsa from "../vectors/key-set-eddsa.json" with { type: "json" };
import keySets from "../vectors/key-set.json" with { type: "json" };
import services from "../vectors/service.json" with { type: "json" };
import manifests from "../vectors/manifest.json" with { type: "json" };
import tickets from "../vectors/ticket.json" with { type: "json" };
import { JWKS } from "./forge.ts";

const onTokens = [
  ...[admissions, tickets, drips, manifests, credits, services],
  admissionsEddsa,
] as unknown as readonly VectorSet[];
const onKeySets = [keySets, keySetsEddsa] as unknown as readonly VectorSet[];

describe.each([...onTokens, ...onKeySets])(
  "law 5: $set, given the same token, clock and keys",
  (set) => {
    const questions = questionsOf(set);
    const cases = set.vectors.map(({ name, expected }, index) => ({
      name,
      expected,
      question: questions[index]!,
    }));

    test("the vectors trust the keys of the fixtures", () => {
      expect(set.jwks).toEqual({ keys: JWKS.keys.map((jwk) => ({ ...jwk, alg: set.alg })) });
    });

    test.each(cases)("$name", async ({ question, expected }) => {
      expect(await verdictOn(question)).toEqual(expected);
    });

    test("asked again, and in another order, the answers are the same", async () => {
      for (const { question, expected } of cases.toReversed())
        expect(await verdictOn(question)).toEqual(expected);
    });
  },
);

describe.each(onTokens)("$set", ({ vectors }) => {
  test("jose finds the accepted ones genuine, and the forged ones forged", async () => {
    const known = await Promise.all(JWKS.keys.map((jwk) => importJWK({ ...jwk }, "Ed25519")));
    const algorithms = ["Ed25519", "EdDSA"];
    const disagreements: string[] = [];
    for (const { name, token, expected } of vectors) {
      const { kid } = expected.ok ? decodeProtectedHeader(token) : {};
      const tried = JWKS.keys.map(async (jwk, index) =>
        compactVerify(token, known[index]!, { algorithms }).then(
          () => kid === undefined || kid === jwk.kid,
          () => false,
        ),
      );
      const genuine = (await Promise.all(tried)).includes(true);
      const forged = expected.reason === "bad-signature" && !name.includes("the other's kid");
      if ((expected.ok && !genuine) || (forged && genuine)) disagreements.push(name);
    }
    expect(disagreements).toEqual([]);
  });
});
