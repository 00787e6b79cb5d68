import { createHash, timingSafeEqual } from "node:crypto";
import { problem } from "./problems.ts";
import type { Secret } from "./secret.ts";

/**
 * Admits `Authorization: Bearer <token>` when the token is `secret`. The comparison takes the same
 * time wherever the texts differ, and whatever their lengths.
 *
 * @throws AppError `unauthorized`.
 */
export function assertBearer(authorization: string | undefined, secret: Secret): void {
  if (!isBearer(authorization, secret)) throw problem("unauthorized");
}

/** The same as an answer. */
export function isBearer(authorization: string | undefined, secret: Secret): boolean {
  const [, token] = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(authorization ?? "") ?? [];
  const same = timingSafeEqual(digest(token ?? ""), digest(secret.reveal()));
  return token !== undefined && same;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
