import { decodeBase64url } from "@vestibule/keys/base64url";
import { utf8Text } from "@vestibule/keys/text";

/** Header (0) or claims (1) of a compact JWS, not verified; `{}` when they cannot be read. */
export function partOf(token: string, part: 0 | 1): Readonly<Record<string, unknown>> {
  const bytes = decodeBase64url(token.trim().split(".")[part] ?? "");
  const text = bytes === undefined ? undefined : utf8Text(bytes);
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
