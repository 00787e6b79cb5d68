/** The form of what stands in headers: says nothing of whether it is genuine. Cheap enough for every request. */
import { IDEMPOTENCY_KEY_CHARS_MAX, TOKEN_CHARS_MAX, USER_CHARS_MAX } from "./limits.ts";

/** Visible ASCII: no space, so that two headers in one request (joined with ", ") are refused. */
const IDEMPOTENCY_KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_CHARS_MAX}}$`);
/** Visible ASCII too: a name that has anything else in it is encoded by the shop. */
const USER = new RegExp(`^[\\x21-\\x7e]{1,${USER_CHARS_MAX}}$`);
const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** `Idempotency-Key`: 1 to 200 visible ASCII characters. */
export function isIdempotencyKey(value: unknown): value is string {
  return typeof value === "string" && IDEMPOTENCY_KEY.test(value);
}

/** `Vestibule-User`: 1 to 200 visible ASCII characters. */
export function isUser(value: unknown): value is string {
  return typeof value === "string" && USER.test(value);
}

/** The shape of a compact JWS, of a length that we sign: may go into a cookie or a header as it is. */
export function isTokenShaped(value: unknown): value is string {
  return typeof value === "string" && value.length <= TOKEN_CHARS_MAX && TOKEN.test(value);
}
