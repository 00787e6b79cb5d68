/** Floor of `edge-verify-again`: what a product with a shared secret pays for every request. */
import { cookieValue, forward, pieces, toBytes } from "./forward.ts";

interface Env {
  readonly ORIGIN_URL: string;
  readonly COOKIE: string;
  /** Shared secret, base64url. */
  readonly KEY: string;
}

const HMAC = { name: "HMAC", hash: "SHA-256" };
let key: CryptoKey | undefined;

const worker = {
  async fetch(request: Request, env: Env): Promise<Response> {
    key ??= await crypto.subtle.importKey("raw", toBytes(env.KEY), HMAC, false, ["verify"]);
    const token = cookieValue(request, env.COOKIE);
    const { signed, signature } = pieces(token);
    if (!(await crypto.subtle.verify("HMAC", key, signature, signed)))
      return new Response("refused", { status: 403 });
    return forward(request, env.ORIGIN_URL, token);
  },
};

export default worker;
