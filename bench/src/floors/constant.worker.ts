/** Floor of `edge-poll` and `edge-page`: the least that workerd does for an answer. */
interface Env {
  readonly BODY: string;
  readonly CONTENT_TYPE: string;
}

const worker = {
  fetch: (_request: Request, env: Env): Response =>
    new Response(env.BODY, { headers: { "content-type": env.CONTENT_TYPE } }),
};

export default worker;
