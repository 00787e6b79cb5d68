/** Floor of `edge-poll`: the least that workerd does for an answer. */
interface Env {
  readonly BODY: string;
}

const worker = {
  fetch: (_request: Request, env: Env): Response =>
    new Response(env.BODY, { headers: { "content-type": "application/json" } }),
};

export default worker;
