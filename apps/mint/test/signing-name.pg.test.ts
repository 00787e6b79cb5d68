/** JOSE libraries that are not ours take what a real mint signs, by its own key set, under the name that they know. */
import { spawnSync } from "node:child_process";
import { epochMs } from "@vestibule/kernel/units";
import { parseJwks } from "@vestibule/keys/key-set";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { findPython, NO_PYTHON_LIBRARIES } from "@vestibule/token/conformance/libraries.system";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import { verifyDrip } from "@vestibule/token/verify-drip";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ISSUER, MintProcess, newVisitor, runMint } from "./support/service.ts";

const python = findPython();
const LIFETIME_SECONDS = 600;
const PATIENCE = { timeout: 20_000, interval: 100 };

/** Each prints the claims. Arguments: the key set's address, issuer, audience; the token on stdin. */
const PYJWT = `
import json, sys, jwt
address, issuer, audience = sys.argv[1:]
token = sys.stdin.read()
key = jwt.PyJWKClient(address).get_signing_key_from_jwt(token)
claims = jwt.decode(token, key.key, algorithms=["EdDSA"], issuer=issuer, audience=audience, leeway=5)
print(json.dumps(claims))`;
const JWCRYPTO = `
import json, sys, urllib.request
from jwcrypto import jwk, jwt
address, issuer, audience = sys.argv[1:]
keys = jwk.JWKSet.from_json(urllib.request.urlopen(address).read())
token = jwt.JWT(check_claims={"iss": issuer, "aud": audience, "exp": None}, algs=["EdDSA"])
token.leeway = 5
token.deserialize(sys.stdin.read(), keys)
print(token.claims)`;

let mint: MintProcess;
let admission: string;
let visitor: string;
let drip: string;
let address: string;

beforeAll(async () => {
  mint = await MintProcess.start(await freshDatabase(), { VESTIBULE_SIGNING_NAME: "EdDSA" });
  await mint.client.create();
  visitor = newVisitor();
  const { body: place } = await mint.client.join(visitor);
  const claimed = await vi.waitUntil(async () => {
    const answer = await mint.client.claim(visitor, place.ticket);
    return answer.status === 201 && answer.body.opensAt <= Date.now() ? answer : undefined;
  }, PATIENCE);
  ({ admission } = claimed.body);
  // A mint on a busy machine may be between two terms.
  const shown = await vi.waitUntil(async () => {
    const answer = await mint.client.ask("GET", "/v1/events/spring/drip");
    return answer.status === 200 ? answer : undefined;
  }, PATIENCE);
  drip = shown.body;
  address = `${mint.client.url}/.well-known/jwks.json`;
});
afterAll(() => mint.kill("SIGTERM"));

describe("a mint with VESTIBULE_SIGNING_NAME=EdDSA", () => {
  it("says so in what it signs, and in each entry of its key set", async () => {
    expect([admission, drip].map((text) => decodeProtectedHeader(text).alg)).toEqual([
      ...["EdDSA", "EdDSA"],
    ]);
    const { body } = await mint.client.ask("GET", "/.well-known/jwks.json");
    expect(body.keys.map(({ alg }: { alg: string }) => alg)).toEqual([
      ...["EdDSA", "EdDSA", "EdDSA", "EdDSA"],
    ]);
  });

  describe("is read, admission and drip,", () => {
    beforeEach((context) => {
      if (python === undefined) context.skip(NO_PYTHON_LIBRARIES);
    });

    it.each([
      ["PyJWT, with its PyJWKClient", PYJWT],
      ["jwcrypto", JWCRYPTO],
    ])("by %s", (_library, program) => {
      for (const text of [admission, drip]) {
        const read = spawnSync(python!, ["-c", program, address, ISSUER, "spring"], {
          input: text,
          encoding: "utf8",
        });
        expect(read.stderr).toBe("");
        expect(JSON.parse(read.stdout)).toMatchObject({ iss: ISSUER, aud: "spring" });
      }
    });
  });

  it("is read by jose, which compares the names", async () => {
    const keys = createRemoteJWKSet(new URL(address));
    for (const text of [admission, drip]) {
      const options = { issuer: ISSUER, audience: "spring", clockTolerance: 5 };
      expect((await jwtVerify(text, keys, options)).protectedHeader.alg).toBe("EdDSA");
    }
  });

  it("is read by our own verifiers", async () => {
    const { body } = await mint.client.ask("GET", "/.well-known/jwks.json");
    const keys = await parseJwks(body);
    if (!keys.ok) throw new Error(keys.refusal.reason);
    const rules = {
      ...{ keys: keys.value, issuer: ISSUER, event: "spring", skewSeconds: 5 },
      now: epochMs(Date.now()),
    };
    const admitted = await verifyAdmission(admission, {
      ...rules,
      ...{ visitor, action: "purchase", lifetimeSeconds: LIFETIME_SECONDS },
    });
    expect([admitted.ok, (await verifyDrip(drip, rules)).ok]).toEqual([true, true]);
  });
});

it.each(["eddsa", "ed25519", "Ed448", "ES256", ""])(
  "VESTIBULE_SIGNING_NAME=%j stops the start, and the message names what is allowed",
  async (name) => {
    const { code, stderr } = await runMint(await freshDatabase(), { VESTIBULE_SIGNING_NAME: name });
    expect(code).toBe(1);
    expect(stderr).toContain("VESTIBULE_SIGNING_NAME: must be one of Ed25519, EdDSA");
  },
);
