import { generateKeyPair } from "@vestibule/keys/key-pair";
import { parseJwks } from "@vestibule/keys/key-set";
import { jwksDocument } from "@vestibule/keys/public-key";
import { importPrivateJwk } from "@vestibule/keys/signing-key";
import { expect, test } from "vitest";

test("the two halves of a fresh pair belong together, under one kid, and no pair comes twice", async () => {
  const [pair, other] = [await generateKeyPair(), await generateKeyPair()];
  expect(pair.privateJwk.d).not.toBe(other.privateJwk.d);
  const imported = await importPrivateJwk(JSON.parse(JSON.stringify(pair.privateJwk)));
  if (!imported.ok) throw new Error(imported.refusal);
  const { kid, key } = imported.value.signingKey;
  expect([kid, pair.publicJwk.kid]).toEqual([pair.privateJwk.kid, pair.privateJwk.kid]);
  expect((key as { extractable: boolean }).extractable).toBe(false);
  const published = await parseJwks(jwksDocument([pair.publicJwk]));
  expect(published.ok && [...published.value.keys()]).toEqual([kid]);
  expect(JSON.stringify(pair.publicJwk)).not.toContain(pair.privateJwk.d);
});

test("a key set with a private half in it is refused as a whole", async () => {
  const { privateJwk } = await generateKeyPair();
  expect((await parseJwks({ keys: [privateJwk] })).ok).toBe(false);
});
