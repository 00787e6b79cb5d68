/**
 * base64url of 32 bytes in its one spelling: 43 characters, no padding, the two spare bits of the last
 * one 0. The form of a visitor's secret and of `sub` and `jti`.
 */
export const HASH_TEXT: RegExp = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
