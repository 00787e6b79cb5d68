/** What the two verifying floors share, kept as short as it can be. */

const encoder = new TextEncoder();

/** The value of the cookie `name`; empty when it is not there. */
export function cookieValue(request: Request, name: string): string {
  return cookieIn(request.headers.get("cookie") ?? "", name);
}

function cookieIn(cookies: string, name: string): string {
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

/**
 * The same forwarding as the edge's: the origin gets the same request, header by header, which the
 * bench checks. Our cookies come last in every request of the bench, so that cutting is enough here.
 */
export function forward(request: Request, origin: string, token: string): Promise<Response> {
  const { url, method, body } = request;
  const headers = new Headers(request.headers);
  const cookies = headers.get("cookie") ?? "";
  headers.set("cookie", cookies.slice(0, cookies.indexOf("; vst-")));
  headers.set("X-Forwarded-Host", headers.get("host") ?? "");
  headers.set("X-Forwarded-Proto", "http");
  headers.set("Vestibule-Admission", token);
  headers.set("Vestibule-Visitor", cookieIn(cookies, "vst-visitor-bench"));
  const target = origin + url.slice(url.indexOf("/", "https://".length));
  return fetch(target, { method, headers, body, redirect: "manual" });
}
