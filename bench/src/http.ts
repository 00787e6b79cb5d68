/** Single requests outside of the measured rounds. */
import { request as send } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";

const TIMEOUT_MS = 10_000;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** One request to a port of 127.0.0.1. `host` in `headers` is sent as it is. */
export function ask(
  port: number,
  options: {
    readonly method?: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  },
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { method = "GET", path, headers = {}, body } = options;
    const request = send(
      { host: "127.0.0.1", port, method, path, headers, agent: false, timeout: TIMEOUT_MS },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.once("error", reject).once("end", () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      },
    );
    request.once("timeout", () => request.destroy(new Error(`${path}: no answer`)));
    request.once("error", reject);
    request.end(body);
  });
}

/**
 * Asks again until the answer has `status`.
 *
 * @throws Error with the last answer when `timeoutMs` is over.
 */
export async function until(
  port: number,
  options: Parameters<typeof ask>[1] & { readonly status: number; readonly timeoutMs: number },
): Promise<Reply> {
  const end = performance.now() + options.timeoutMs;
  for (;;) {
    let last: string;
    try {
      const reply = await ask(port, options);
      if (reply.status === options.status) return reply;
      last = `${reply.status} ${reply.body.slice(0, 300)}`;
    } catch (error) {
      last = String(error);
    }
    if (performance.now() > end)
      throw new Error(`${options.path} never answered ${options.status}: ${last}`);
    await wait(100);
  }
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
