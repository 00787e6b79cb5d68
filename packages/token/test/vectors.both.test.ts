import { epochMs } from "@vestibule/kernel/units";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import { verifyCredit } from "@vestibule/token/verify-credit";
import { verifyDrip } from "@vestibule/token/verify-drip";
import { verifyManifest } from "@vestibule/token/verify-manifest";
import { verifyTicket } from "@vestibule/token/verify-ticket";
import { compactVerify, decodeProtectedHeader, importJWK } from "jose";
import { describe, expect, test } from "vitest";

import admissions from "../vectors/admission.json" with { type: "json" };
import credits from "../vectors/credit.json" with { type: "json" };
import drips from "../vectors/drip.json" with { type: "json" };
import manifests from "../vectors/manifest.json" with { type: "json" };
import tickets from "../vectors/ticket.json" with { type: "json" };
import { JWKS, keySetOf } from "./forge.ts";
import type { Expected, VectorFile, VectorOptions } from "./vector.ts";

const files = [admissions, tickets, drips, manifests, credits] as unknown as readonly VectorFile[];
const keys = await keySetOf(JWKS);

async function verdict(typ: string, token: string, options: VectorOptions): Promise<Expected> {
  const { nowMs, visitor, ...rest } = options;
  const all = { ...rest, keys, now: epochMs(nowMs), visitor: visitor ?? undefined };
  const verify = {
    "vst-admission+jwt": verifyAdmission,
    "vst-ticket+jwt": verifyTicket,
    "vst-drip+jwt": verifyDrip,
    "vst-manifest+jwt": verifyManifest,
    "vst-credit+jwt": verifyCredit,
  }[typ];
  if (verify === undefined) throw new Error(`no verifier for ${typ}`);
  const read = await verify(token, all);
  return read.ok ? { ok: true } : { ok: false, ...read.refusal };
}

describe.each(files)("law 5: $typ, given the same token, clock and keys", ({ typ, ...file }) => {
  test("the vectors trust the key set of the fixtures", () => {
    expect(file.jwks).toEqual(JWKS);
    expect(new Set(file.vectors.map(({ name }) => name)).size).toBe(file.vectors.length);
  });

  test.each(file.vectors)("$name", async ({ token, options, expected }) => {
    expect(await verdict(typ, token, { ...file.options, ...options })).toEqual(expected);
  });

  test("jose finds the accepted ones genuine, and the forged ones forged", async () => {
    const known = await Promise.all(JWKS.keys.map((jwk) => importJWK({ ...jwk }, "Ed25519")));
    const algorithms = ["Ed25519", "EdDSA"];
    const disagreements: string[] = [];
    for (const { name, token, expected } of file.vectors) {
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
