/** What the two verifying floors share, kept as short as it can be. */

const encoder = new TextEncoder();

/** The value of the cookie `name`; empty when it is not there. */
export function cookieValue(request: Request, name: string): string {
  const cookies = request.headers.get("cookie") ?? "";
  const at = cookies.indexOf(`${name}=`);
  if (at === -1) return "";
  const end = cookies.indexOf(";", at);
  return cookies.slice(at + name.length + 1, end === -1 ? undefined : end);
}

/** The two inputs of a verification of a compact JWS. */
export function pieces(token: string): { signed: BufferSource; signature: BufferSource } {
  const dot = token.lastIndexOf(".");
  return {
    signed: encoder.encode(token.slice(0, Math.max(dot, 0))),
    signature: toBytes(token.slice(dot + 1)),
  };
}

/** Decodes base64url. */
export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}

/** The request as it came, sent to the origin. A Worker's incoming requests follow no redirect by themselves. */
export function forward(request: Request, origin: string): Promise<Response> {
  const { url } = request;
  return fetch(origin + url.slice(url.indexOf("/", "https://".length)), request);
}
