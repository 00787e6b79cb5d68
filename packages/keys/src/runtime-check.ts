import { decodeBase64url } from "./base64url.ts";
import { utf8 } from "./text.ts";
import { subtle } from "./webcrypto.ts";

/** RFC 8032 section 7.1, test 2: the message is the one byte 0x72. */
const PUBLIC_KEY = "PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw";
const SIGNATURE =
  "kqAJqfDUyrhyDoILX2QlQKKye1QWUD-Ps3YiI-vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA";
const MESSAGE = "r";

/**
 * Whether this runtime verifies Ed25519 as it should: a genuine signature passes, a changed one does not.
 * To be asked once before the first request is served: when it cannot, every token would look forged, and
 * whoever asks must answer 503 instead (never the holding page for everyone).
 */
export async function runtimeVerifies(
  runtime: Pick<typeof subtle, "importKey" | "verify"> = subtle,
): Promise<boolean> {
  const publicKey = decodeBase64url(PUBLIC_KEY);
  const signature = decodeBase64url(SIGNATURE);
  if (publicKey === undefined || signature === undefined) return false;
  try {
    const key = await runtime.importKey("raw", publicKey, "Ed25519", true, ["verify"]);
    const genuine = await runtime.verify("Ed25519", key, signature, utf8(MESSAGE));
    const forged = await runtime.verify("Ed25519", key, signature, utf8("s"));
    return genuine && !forged;
  } catch {
    return false;
  }
}
