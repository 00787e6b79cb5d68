/**
 * Can this runtime verify Ed25519 at all (KR-09)? Asked once per isolate with the first vector of
 * RFC 8032 section 7.1, good and spoilt: "nobody is admitted" must never be how we find out.
 */
const PUBLIC_KEY = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const SIGNATURE =
  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";

/** The part of Web Crypto that is asked. */
export interface Verifier {
  importKey: SubtleCrypto["importKey"];
  verify: SubtleCrypto["verify"];
}

/** True when a good signature passes and a spoilt one does not. Never rejects. */
export async function canVerify(subtle: Verifier): Promise<boolean> {
  try {
    const key = await subtle.importKey("raw", bytes(PUBLIC_KEY), "Ed25519", false, ["verify"]);
    const spoilt = bytes(SIGNATURE);
    spoilt[0] = (spoilt[0] ?? 0) ^ 1;
    const message = new Uint8Array(0);
    const good = await subtle.verify("Ed25519", key, bytes(SIGNATURE), message);
    const bad = await subtle.verify("Ed25519", key, spoilt, message);
    return good && !bad;
  } catch {
    return false;
  }
}

function bytes(hex: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array((hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));
}
