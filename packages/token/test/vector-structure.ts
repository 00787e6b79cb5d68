/** Vectors on header, parts and signature: the same for every kind of token. */
import { decodeBase64url, encodeBase64url } from "@vestibule/keys/base64url";

import type { Expected, VectorDraft } from "../conformance/pack.ts";
import { forge, forgeMac, keyOne, keyTwo, part, strangerKey } from "./forge.ts";
import { type Builder, CLAIMS, KINDS, OK, builder, no, typOf } from "./vector-builder.ts";

export async function structure(build: Builder): Promise<readonly VectorDraft[]> {
  const good = await forge(build.header({}), build.payload({}));
  return [
    ...(await algorithms(build)),
    ...(await unsigned(build, good)),
    ...(await headers(build)),
    ...signatures(build, good),
    ...(await nonsense(build, good)),
  ];
}

async function algorithms({ alg, vector, header, payload, headed }: Builder) {
  const good = await forge(header({}), payload({}));
  const older = { alg: "EdDSA" };
  return [
    vector("good", good, OK),
    ...(alg === "EdDSA"
      ? []
      : [await headed("TV-01: alg EdDSA, the older registered name", older, OK)]),
    await headed("signed by the other key of the set", {}, OK, keyTwo),
    await headed("an unknown header member is ignored (RFC 7515 section 4)", { cty: "x" }, OK),
    ...(await Promise.all(
      ["ed25519", "eddsa", "EDDSA", "Ed448", "HS256", "ES256", "RS256", "", null, 1, ["EdDSA"]].map(
        (alg) => headed(`alg ${JSON.stringify(alg)}`, { alg }, no("wrong-algorithm")),
      ),
    )),
    await headed("alg missing", { alg: undefined }, no("wrong-algorithm")),
  ];
}

/** TV-03, and a MAC where a signature belongs. */
async function unsigned({ alg, vector, header, payload }: Builder, good: string) {
  const [head = "", body = "", signature = ""] = good.split(".");
  const unsecured = ["none", "None", "NONE", "nOnE"];
  const publicKey = decodeBase64url(keyOne.publicJwk.x) ?? new Uint8Array();
  const mac = async (alg: string, hash: string, expected: Expected) =>
    vector(
      `HMAC-${hash} keyed with the public key, alg ${alg}`,
      await forgeMac(header({ alg }), payload({}), { secret: publicKey, hash }),
      expected,
    );
  return [
    ...unsecured.flatMap((alg) => [
      vector(
        `TV-03: alg ${alg}, empty signature`,
        `${part(header({ alg }))}.${body}.`,
        no("malformed"),
      ),
      vector(`TV-03: alg ${alg}, two parts`, `${part(header({ alg }))}.${body}`, no("malformed")),
      vector(
        `TV-03: alg ${alg}, old signature`,
        `${part(header({ alg }))}.${body}.${signature}`,
        no("wrong-algorithm"),
      ),
    ]),
    vector("TV-03: one part", head, no("malformed")),
    vector("TV-03: two parts", `${head}.${body}`, no("malformed")),
    vector("TV-03: four parts", `${good}.${signature}`, no("malformed")),
    vector(
      "TV-03: five parts (the encrypted form)",
      `${good}.${body}.${signature}`,
      no("malformed"),
    ),
    await mac("HS256", "SHA-256", no("malformed")),
    await mac(alg, "SHA-256", no("malformed")),
    await mac("HS512", "SHA-512", no("wrong-algorithm")),
    await mac(alg, "SHA-512", no("bad-signature")),
  ];
}

async function headers({ kind, alg, vector, header, payload, headed }: Builder) {
  const foreign = {
    jwk: strangerKey.publicJwk,
    jku: "https://evil.example/k",
    x5u: "https://evil.example/c",
  };
  const more = { x5c: ["MIIB"], x5t: "AAAA", "x5t#S256": "AAAA", crit: ["exp"], b64: true };
  return [
    ...(await Promise.all(
      Object.entries({ ...foreign, ...more }).map(([name, value]) =>
        headed(`header with ${name}`, { [name]: value }, no("forbidden-header")),
      ),
    )),
    vector(
      "signed by the key that its own jwk header brings",
      await forge(header({ jwk: strangerKey.publicJwk }, strangerKey), payload({}), strangerKey),
      no("forbidden-header"),
    ),
    await headed("signed by a key that is not in the set", {}, no("unknown-key"), strangerKey),
    await headed(
      "signed by a stranger under a known kid",
      { kid: keyOne.signingKey.kid },
      no("bad-signature"),
      strangerKey,
    ),
    await headed(
      "signed by one key of the set under the other's kid",
      { kid: keyTwo.signingKey.kid },
      no("bad-signature"),
    ),
    ...(await Promise.all(
      [undefined, null, 1, "", "__proto__", [keyOne.signingKey.kid]].map((kid) =>
        headed(`kid ${JSON.stringify(kid) ?? "missing"}`, { kid }, no("unknown-key")),
      ),
    )),
    ...(await Promise.all(
      [
        undefined,
        null,
        "JWT",
        "",
        typOf(kind).toUpperCase(),
        `application/${typOf(kind)}`,
        `${typOf(kind)} `,
      ].map((typ) =>
        headed(`TV-09: typ ${JSON.stringify(typ) ?? "missing"}`, { typ }, no("wrong-type")),
      ),
    )),
    ...(await Promise.all(
      KINDS.filter((other) => other !== kind).map(async (other) =>
        vector(
          `TV-09: a genuine ${other}`,
          await forge(builder(other, alg).header({}), CLAIMS[other]),
          no("wrong-type"),
        ),
      ),
    )),
  ];
}

function signatures({ vector, payload }: Builder, good: string): VectorDraft[] {
  const [head = "", body = "", signature = ""] = good.split(".");
  const bytes = decodeBase64url(signature) ?? new Uint8Array();
  const signed = (sig: Uint8Array<ArrayBuffer>) => `${head}.${body}.${encodeBase64url(sig)}`;
  const resized = (length: number) => {
    const other = new Uint8Array(length);
    other.set(bytes.subarray(0, length));
    return other;
  };
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const spare = signature.slice(0, -1) + alphabet[alphabet.indexOf(signature.at(-1) ?? "A") + 1];
  return [
    ...[0, 1, 32, 63, 65, 128].map((length) =>
      vector(`TV-08: signature of ${length} bytes`, signed(resized(length)), no("malformed")),
    ),
    vector("TV-08: signature of 64 zero bytes", signed(new Uint8Array(64)), no("bad-signature")),
    vector("TV-13: S raised by the group order", signed(raisedByOrder(bytes)), no("bad-signature")),
    vector("the last character's spare bits set", `${head}.${body}.${spare}`, no("malformed")),
    vector("padding", `${good}==`, no("malformed")),
    vector("a line feed at the end", `${good}\n`, no("malformed")),
    vector("a space in front", ` ${good}`, no("malformed")),
    vector("a space inside", `${head}. ${body}.${signature}`, no("bad-signature")),
    vector(
      "base64 instead of base64url",
      good.replace(/[-_]/gu, (char) => (char === "-" ? "+" : "/")),
      no("malformed"),
    ),
    vector(
      "another payload under the same signature",
      `${head}.${part(payload({ iat: 0 }))}.${signature}`,
      no("bad-signature"),
    ),
  ];
}

async function nonsense({ vector, header, payload }: Builder, good: string) {
  const [, body = "", signature = ""] = good.split(".");
  return [
    vector("TV-08: empty payload", await forge(header({}), ""), no("malformed")),
    vector("TV-08: empty header", `.${body}.${signature}`, no("malformed")),
    vector("empty text", "", no("malformed")),
    vector("dots only", "..", no("malformed")),
    ...(await Promise.all(
      (["null", "[]", "5", '"x"', "{", "not JSON"] as const).flatMap((json) => [
        forge(json, payload({})).then((token) =>
          vector(`TV-08: header ${json}`, token, no("malformed")),
        ),
        forge(header({}), json).then((token) =>
          vector(`TV-08: payload ${json}`, token, no("malformed")),
        ),
      ]),
    )),
    vector(
      "TV-08: header of invalid UTF-8",
      await forge(new Uint8Array([0x7b, 0xff, 0x7d]), payload({})),
      no("malformed"),
    ),
    vector(
      "TV-08: payload of invalid UTF-8",
      await forge(header({}), new Uint8Array([0x7b, 0xff, 0x7d])),
      no("malformed"),
    ),
    vector(
      "a byte order mark before the payload",
      await forge(header({}), `\u{feff}${JSON.stringify(payload({}))}`),
      no("malformed"),
    ),
  ];
}

/** The group order L, little-endian, added to S: the same equation, another text (RFC 8032 section 8.4). */
function raisedByOrder(signature: Uint8Array): Uint8Array<ArrayBuffer> {
  const order = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
  const raised = Uint8Array.from(signature);
  let carry = 0;
  for (let index = 0; index < 32; index += 1) {
    const sum =
      (raised[32 + index] ?? 0) +
      Number.parseInt(order.slice(index * 2, index * 2 + 2), 16) +
      carry;
    raised[32 + index] = sum & 255;
    carry = sum >> 8;
  }
  return raised;
}
