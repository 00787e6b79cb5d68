/** Real servers for the adapters: started on a free port, asked over HTTP, closed again. */
import { once } from "node:events";
import { MINT, PURCHASE, type World } from "./world.ts";
import {
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
  request,
} from "node:http";

export interface Shop {
  readonly url: string;
  close(): Promise<void>;
}

export async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Shop> {
  const server: Server = createServer(handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Header lines as they are, so that one can be sent twice (`fetch` would join them). */
export async function ask(
  url: string,
  {
    headers,
    body = "",
    json,
  }: { headers: readonly (readonly [string, string])[]; body?: string; json?: object },
): Promise<Answer> {
  const asking = request(url, { method: "POST", agent: false });
  const names = new Set(headers.map(([name]) => name));
  for (const name of names) {
    asking.setHeader(
      name,
      headers.filter(([each]) => each === name).map(([, value]) => value),
    );
  }
  const form = "application/x-www-form-urlencoded";
  if (!names.has("Content-Type")) {
    asking.setHeader("Content-Type", json === undefined ? form : "application/json");
  }
  asking.end(json === undefined ? body : JSON.stringify(json));
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += String(chunk);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: text };
}

/** The world's mint and purchase API over HTTP, for a guard in another process. */
export function serve(world: World): Promise<Shop> {
  return listen((request, response) => {
    const { url = "/", method = "GET" } = request;
    const headers = new Headers(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const at = url.endsWith("/spends") ? PURCHASE : MINT;
    const asked = world.fetch(at + url, { method, headers });
    void asked.then(async (answer) => {
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    });
  });
}
