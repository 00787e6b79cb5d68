/** Floor of `edge-verify-first`: one raw Ed25519 verification of the token in the cookie, then the same forwarding. */
import { cookieValue, forward, pieces, toBytes } from "./forward.ts";

interface Env {
  readonly ORIGIN_URL: string;
  readonly COOKIE: string;
  /** Public key, base64url. */
  readonly KEY: string;
}

let key: CryptoKey | undefined;

const worker = {
  async fetch(request: Request, env: Env): Promise<Response> {
    key ??= await crypto.subtle.importKey("raw", toBytes(env.KEY), "Ed25519", false, ["verify"]);
    const token = cookieValue(request, env.COOKIE);
    const { signed, signature } = pieces(token);
    if (!(await crypto.subtle.verify("Ed25519", key, signature, signed)))
      return new Response("refused", { status: 403 });
    return forward(request, env.ORIGIN_URL, token);
  },
};

export default worker;
