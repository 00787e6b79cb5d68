/** The mint's keys as a value: one signs for each use, some verify, all of these are published. */
import { createHash } from "node:crypto";
import type { EpochMs } from "@vestibule/kernel/units";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { KEY_USES, type KeyUse, type PublicJwk } from "@vestibule/keys/public-key";
import { publishedKeys } from "@vestibule/keys/rotation";
import type { SigningKey } from "@vestibule/keys/signing-key";
import type { KeyRow, StoredKeys } from "../store/store.ts";
import type { Policies } from "./key-policy.ts";

/** Stops the start: the message is for the person who starts the mint. */
export class KeyTrouble extends Error {
  override readonly name = "KeyTrouble";
}

/** What `/.well-known/jwks.json` answers. */
export interface PublishedKeys {
  readonly seq: number;
  readonly jwks: string;
  readonly etag: string;
}

/** What a leader signs with, and reads tickets by. */
export interface KeyRing {
  readonly seq: number;
  readonly signing: Readonly<Record<KeyUse, SigningKey>>;
  /** Verifies every ticket that may still be shown. */
  readonly verify: KeySet;
}

export function rowsOf(keys: readonly KeyRow[], use: KeyUse): readonly KeyRow[] {
  return keys.filter((key) => key.use === use);
}

/** The row that signs for `use`. A key from before there were two uses stands in until an admission key may. */
export function signingRow(keys: readonly KeyRow[], use: KeyUse): KeyRow | undefined {
  const own = keys.find((key) => key.use === use && key.state === "signing");
  return own ?? (use === "admission" ? standIn(keys) : undefined);
}

/** The key of the line when it may sign admissions too, as far as every location knows. */
export function standIn(keys: readonly KeyRow[]): KeyRow | undefined {
  const line = keys.find((key) => key.use === "line" && key.state === "signing");
  return line?.publicJwk.vst_use === undefined ? line : undefined;
}

/** The entries of the key set at `now`. */
export function publicKeys(
  keys: readonly KeyRow[],
  now: EpochMs,
  policies: Policies,
): readonly PublicJwk[] {
  const byKid = new Map(keys.map((key) => [key.kid, key.publicJwk]));
  // The same text from every mint, whatever order its rows came in.
  const sorted = keys.toSorted(
    (one, other) => one.createdAt - other.createdAt || (one.kid < other.kid ? -1 : 1),
  );
  return KEY_USES.flatMap((use) => publishedKeys(rowsOf(sorted, use), now, policies[use])).flatMap(
    ({ kid, exp }) => {
      const jwk = byKid.get(kid);
      if (jwk === undefined) return [];
      return [exp === undefined ? jwk : { ...jwk, exp }];
    },
  );
}

export function publish(
  { seq, keys }: StoredKeys,
  now: EpochMs,
  policies: Policies,
): PublishedKeys {
  // Whoever asks twice has the newer one: `seq`, which packages/feed goes by.
  const jwks = JSON.stringify({ seq, keys: publicKeys(keys, now, policies) });
  const digest = createHash("sha256").update(jwks).digest("base64url").slice(0, 22);
  return { seq, jwks, etag: `"${digest}"` };
}

/** @throws KeyTrouble when a stored public key is no good one. */
export async function verifiers(jwks: string): Promise<KeySet> {
  const read = await parseJwks(JSON.parse(jwks));
  if (read.ok) return read.value;
  throw new KeyTrouble(`A stored public key is refused: ${read.refusal.reason}`);
}

export function adviceFor(refusal: string, { kid, use }: Pick<KeyRow, "kid" | "use">): string {
  const which = `the ${use} key ${kid} in the database`;
  if (refusal === "other-kek") {
    return (
      `VESTIBULE_KEK does not open ${which}, nor does VESTIBULE_KEK_PREVIOUS: start with the key-encryption key that ` +
      "sealed it, as VESTIBULE_KEK_PREVIOUS when another one is to take over. When it is lost: docs/runbooks/lost-kek.md"
    );
  }
  if (refusal === "cannot-open") {
    return `VESTIBULE_KEK does not open ${which}, which it sealed: the row is damaged. See docs/runbooks/lost-kek.md`;
  }
  return `${which} cannot be used: ${refusal}`;
}
