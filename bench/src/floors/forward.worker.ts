/** Floor of `edge-forward`: a proxy that checks nothing. */
import { cookieValue, forward } from "./forward.ts";

interface Env {
  readonly ORIGIN_URL: string;
  readonly COOKIE: string;
}

const worker = {
  fetch: (request: Request, env: Env): Promise<Response> =>
    forward(request, env.ORIGIN_URL, cookieValue(request, env.COOKIE)),
};

export default worker;
