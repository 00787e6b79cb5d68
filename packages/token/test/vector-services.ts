/** What version 1.3 brings: tokens of services, and each other kind beside them. */
import type { Alg, VectorDraft } from "../conformance/pack.ts";
import { EVENT, NBF, NOW, SUB, forge } from "./forge.ts";
import { additions } from "./vector-additions.ts";
import { type Builder, EVENT_END, OK, builder, no } from "./vector-builder.ts";
import {
  BAD_HASHES,
  BAD_SECONDS,
  IAT_IN_MS,
  audience,
  issuer,
  times,
  types,
} from "./vector-cases.ts";
import { structure } from "./vector-structure.ts";
import { uses } from "./vector-uses.ts";

const BAD_NAMES = [
  "",
  5,
  "Payments",
  "pay ments",
  "-payments",
  "payments-",
  "pay--ments",
  "pay_ments",
];
const LONGEST = "a".repeat(64);

export async function serviceVectors(alg: Alg): Promise<readonly VectorDraft[]> {
  const build = builder("service", alg);
  const { claims } = build;
  const many = await Promise.all([
    ...types(build, {
      sub: [...BAD_NAMES, `${LONGEST}a`, ["payments"], SUB, "payments\n"],
      jti: BAD_HASHES,
      iat: BAD_SECONDS,
      exp: BAD_SECONDS,
    }),
    ...issuer(build),
    ...audience(build),
    ...times(build, EVENT_END).filter((_, index) => index !== IAT_IN_MS),
    claims("TV-06: iat in milliseconds, after exp", { iat: NOW }, no("bad-claims")),
    claims("exp is iat", { exp: NBF - 3_600 }, no("bad-claims")),
    claims("exp before iat", { exp: NBF - 3_601 }, no("bad-claims")),
    claims("a service's name of one character", { sub: "a" }, OK),
    claims("a service's name of 64 characters", { sub: LONGEST }, OK),
    claims("a service's name with hyphens and digits", { sub: "pay-2-you" }, OK),
    claims(
      "an action and a number, as an admission has them, are ignored",
      { n: 1, act: "purchase" },
      OK,
    ),
    claims("an unknown claim is ignored", { more: 1 }, OK),
    claims("a nbf is ignored", { nbf: NBF + 9_000 }, OK),
  ]);
  return [
    ...(await structure(build)),
    ...many,
    ...(await additions(build)),
    ...(await uses(build)),
    ...(await claimsOfOthers(build)),
  ];
}

/** A service's token where each other kind is asked for: whoever passes without a place has none. */
export async function serviceShown(build: Builder): Promise<readonly VectorDraft[]> {
  const service = builder("service", build.alg);
  return [
    build.vector(
      "TV-09: a genuine service",
      await forge(service.header({}), service.payload({})),
      no("wrong-type"),
    ),
    build.vector(
      `TV-09: the claims of a service under ${a(build.kind)}'s typ`,
      await forge(build.header({}), service.payload({})),
      no("bad-claims"),
    ),
  ];
}

async function claimsOfOthers({ alg, header, vector }: Builder): Promise<VectorDraft[]> {
  const kinds = ["admission", "ticket", "credit"] as const;
  return Promise.all(
    kinds.map(async (kind) =>
      vector(
        `TV-09: the claims of ${a(kind)} under a service's typ, for ${EVENT}`,
        await forge(header({}), builder(kind, alg).payload({})),
        no("bad-claims"),
      ),
    ),
  );
}

function a(kind: string): string {
  return `${kind === "admission" ? "an" : "a"} ${kind}`;
}
