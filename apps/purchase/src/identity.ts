/** Identities as they stand in key names: nobody who reads the store learns who was limited. */
import { createHash, createHmac } from "node:crypto";

/** The name of `identity` under `policy`, 22 characters (132 bits) of base64url. */
export type HashIdentity = (policy: string, identity: string) => string;

const NAME_CHARS = 22;

/**
 * HMAC-SHA-256 under `secret`. With another secret every bucket begins anew, so that is how it is rotated:
 * for one refill time everybody has a full bucket.
 */
export function createHashIdentity(secret: string | Uint8Array): HashIdentity {
  return (policy, identity) =>
    createHmac("sha256", secret)
      // No policy name has a NUL in it: two pairs never make one text.
      .update(`${policy}\0${identity}`)
      .digest("base64url")
      .slice(0, NAME_CHARS);
}

/** Whose bucket it is: the user's that the shop vouched for, on whatever device, else the visitor's. */
export function limitedIdentity(visitor: string, user: string | undefined): string {
  return user === undefined ? `visitor:${visitor}` : `user:${user}`;
}

/**
 * Whose per-buyer limit it is, as it stands in the ledger: the shop's name for a user is not kept. Without salt, so
 * that it stays the same: a name that can be guessed can be found again, and shops give an opaque one.
 */
export function buyerOf(visitor: string, user: string | undefined): string {
  if (user === undefined) return visitor;
  return `user:${createHash("sha256").update(user).digest("base64url")}`;
}

/** Whether this buyer is a user whom the shop named. A visitor's hash has no colon. */
export function isUserBuyer(buyer: string): boolean {
  return buyer.startsWith("user:");
}
