import { JWKS_KEYS_MAX } from "@vestibule/contracts/limits";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import { type EpochSeconds, epochSeconds } from "@vestibule/kernel/units";

import {
  type KeyUse,
  type PointRefusal,
  decodePublicKey,
  isKeyUse,
  isSigningName,
  keyIdOf,
} from "./public-key.ts";
import { type CryptoKey, subtle } from "./webcrypto.ts";

/** A public key, imported once and ready to verify. */
export interface VerifyKey {
  readonly kid: string;
  readonly key: CryptoKey;
  /** From this second on nothing that it signed is accepted (`exp` in the JWKS); absent: no end known. */
  readonly until: EpochSeconds | undefined;
  /** Signs this alone (`vst_use` in the JWKS); `undefined`: it was not said. */
  readonly use?: KeyUse | undefined;
}

/** The keys that a verifier trusts: an immutable value that may be kept and shared between requests. */
export type KeySet = ReadonlyMap<string, VerifyKey>;

export type EntryRefusal =
  | PointRefusal
  | "not-an-object"
  | "private-key"
  | "wrong-alg"
  | "wrong-use"
  | "bad-exp"
  | "wrong-kid"
  | "duplicate-kid"
  | "import-failed";

/** Why a key set is refused as a whole. `index`: the position of the entry in `keys`. */
export type JwksRefusal =
  | { readonly reason: "not-a-key-set" | "empty" | "too-many-keys" }
  | { readonly reason: "bad-entry"; readonly index: number; readonly entry: EntryRefusal };

interface Entry {
  readonly kid: string;
  readonly x: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly until: EpochSeconds | undefined;
  readonly use: KeyUse | undefined;
}

/**
 * Reads a JWKS (RFC 7517). One rule for every set:
 * - an entry of another `kty`, `crv` or `vst_use` is passed over (RFC 7517 section 5), so that a later algorithm or
 *   use can be published beside ours, unless it shares its `kid` with another entry;
 * - one Ed25519 entry that breaks a rule refuses the whole set, and the caller keeps its last good one;
 * - `kid` must be the RFC 7638 thumbprint; `alg` is absent, `Ed25519` or `EdDSA`; `use` is absent or `sig`;
 * - any private or symmetric member, in any entry, refuses the set;
 * - entries that say the same under one `kid` collapse, others refuse the set;
 * - a set without a usable key is refused: nothing replaces good keys by nothing.
 */
export async function parseJwks(json: unknown): Promise<Result<KeySet, JwksRefusal>> {
  const entries = readEntries(json);
  if (!entries.ok) return entries;
  const keys = new Map<string, VerifyKey>();
  for (const [index, { kid, bytes, until, use }] of entries.value) {
    if ((await keyIdOf(bytes)) !== kid) return badEntry(index, "wrong-kid");
    try {
      const key = await subtle.importKey("raw", bytes, "Ed25519", true, ["verify"]);
      keys.set(kid, { kid, key, until, use });
    } catch {
      return badEntry(index, "import-failed");
    }
  }
  return ok(keys);
}

function readEntries(json: unknown): Result<ReadonlyMap<number, Entry>, JwksRefusal> {
  const list = isObject(json) ? json["keys"] : undefined;
  if (!Array.isArray(list)) return refuse({ reason: "not-a-key-set" });
  if (list.length > JWKS_KEYS_MAX) return refuse({ reason: "too-many-keys" });
  const entries = new Map<number, Entry>();
  const seen = new Map<string, Entry | undefined>();
  for (const [index, item] of (list as readonly unknown[]).entries()) {
    const read = readEntry(item);
    if (!read.ok) return badEntry(index, read.refusal);
    const entry = read.value;
    const kid = isObject(item) ? item["kid"] : undefined;
    if (typeof kid === "string") {
      if (seen.has(kid)) {
        if (!sameEntry(seen.get(kid), entry)) return badEntry(index, "duplicate-kid");
        continue;
      }
      seen.set(kid, entry);
    }
    if (entry !== undefined) entries.set(index, entry);
  }
  return entries.size === 0 ? refuse({ reason: "empty" }) : ok(entries);
}

/** An entry of ours; `undefined`: a kind of key that is passed over. */
function readEntry(item: unknown): Result<Entry | undefined, EntryRefusal> {
  if (!isObject(item)) return refuse("not-an-object");
  if ("d" in item || "k" in item || "priv" in item) return refuse("private-key");
  if (item["kty"] !== "OKP" || item["crv"] !== "Ed25519") return ok(undefined);
  const { alg, use, exp, kid, x } = item as Record<"alg" | "use" | "exp" | "kid" | "x", unknown>;
  if (alg !== undefined && !isSigningName(alg)) return refuse("wrong-alg");
  if (use !== undefined && use !== "sig") return refuse("wrong-use");
  const operations = item["key_ops"];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify")))
    return refuse("wrong-use");
  if (typeof kid !== "string") return refuse("wrong-kid");
  if (exp !== undefined && !(Number.isSafeInteger(exp) && Number(exp) >= 0))
    return refuse("bad-exp");
  const vstUse = item["vst_use"];
  if (vstUse !== undefined && !isKeyUse(vstUse)) return ok(undefined);
  const bytes = decodePublicKey(x);
  if (!bytes.ok) return bytes;
  const until = exp === undefined ? undefined : epochSeconds(Number(exp));
  return ok({ kid, x: String(x), bytes: bytes.value, until, use: vstUse });
}

function sameEntry(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.x === other.x && one.until === other.until && one.use === other.use;
}

function badEntry(index: number, entry: EntryRefusal): Result<never, JwksRefusal> {
  return refuse({ reason: "bad-entry", index, entry });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
