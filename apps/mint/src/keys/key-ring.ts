/** The mint's keys in memory: one signs, some verify, all of these are published. */
import { createHash } from "node:crypto";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { jwksDocument } from "@vestibule/keys/public-key";
import type { KeyState } from "@vestibule/keys/rotation";
import type { KeyEncryptionKey } from "@vestibule/keys/seal";
import { generateSigningKey, openSigningKey, type SigningKey } from "@vestibule/keys/signing-key";
import type { EpochMs } from "@vestibule/kernel/units";
import type { Lead, MintStore } from "../store/store.ts";

/** Stops the start: the message is for the person who starts the mint. */
export class KeyTrouble extends Error {
  override readonly name = "KeyTrouble";
}

/** What `/.well-known/jwks.json` answers. */
export interface PublishedKeys {
  readonly jwks: string;
  readonly etag: string;
}

export interface KeyRing {
  readonly signing: SigningKey;
  /** Verifies everything that may still be shown: signing and retiring keys. */
  readonly verify: KeySet;
  readonly published: PublishedKeys;
}

const PUBLISHED: ReadonlySet<KeyState> = new Set(["staged", "signing", "retiring"]);

/**
 * Reads the stored keys; `undefined` when there is none yet.
 *
 * @throws KeyTrouble when the key-encryption key does not open them.
 */
export async function readKeyRing(
  store: MintStore,
  kek: KeyEncryptionKey,
): Promise<KeyRing | undefined> {
  const rows = await store.loadKeys();
  const row = rows.find(({ state }) => state === "signing");
  if (row === undefined) {
    if (rows.length === 0) return undefined;
    throw new KeyTrouble("There are keys in the database, but none of them signs");
  }
  const opened = await openSigningKey(row.sealed ?? "", { kek, kid: row.kid });
  if (!opened.ok) throw new KeyTrouble(adviceFor(opened.refusal, row.kid));
  const document = jwksDocument(
    rows.filter(({ state }) => PUBLISHED.has(state)).map(({ publicJwk }) => publicJwk),
  );
  const verify = await parseJwks(document);
  if (!verify.ok) throw new KeyTrouble(`A stored public key is refused: ${verify.refusal.reason}`);
  const jwks = JSON.stringify(document);
  const digest = createHash("sha256").update(jwks).digest("base64url").slice(0, 22);
  return {
    signing: opened.value.signingKey,
    verify: verify.value,
    published: { jwks, etag: `"${digest}"` },
  };
}

/**
 * The same, and the first signing key is made when there is none: nobody has verified anything yet,
 * so that it needs no time as a staged key.
 *
 * @throws KeyTrouble, LeaseLostError.
 */
export async function ensureKeyRing(
  store: MintStore,
  { lead, kek, now }: { lead: Lead; kek: KeyEncryptionKey; now: EpochMs },
): Promise<KeyRing> {
  const known = await readKeyRing(store, kek);
  if (known !== undefined) return known;
  const { publicJwk, sealed } = await generateSigningKey(kek);
  await store.addFirstKey(lead, {
    kid: publicJwk.kid,
    state: "signing",
    since: now,
    publicJwk,
    sealed,
    createdAt: now,
  });
  const ring = await readKeyRing(store, kek);
  if (ring === undefined) throw new KeyTrouble("The first signing key was not stored");
  return ring;
}

function adviceFor(refusal: string, kid: string): string {
  const which = `the signing key ${kid} in the database`;
  if (refusal === "other-kek" || refusal === "cannot-open") {
    return `VESTIBULE_KEK does not open ${which}: start with the key-encryption key that sealed it`;
  }
  return `${which} cannot be used: ${refusal}`;
}
