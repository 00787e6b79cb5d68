/**
 * HTTP for a crowd on a small machine: one bounded pool of kept-alive connections, no redirects
 * followed, no cookies kept, every answer bounded in time and size.
 */
import { Agent, type IncomingMessage, request } from "node:http";

const BODY_CHARS_MAX = 4 * 1024 * 1024;

export interface HttpRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

export interface Http {
  /** @throws Error when there is no whole answer within the time. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

export function createHttp(options: { connectionsMax: number }): Http {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: options.connectionsMax,
    maxTotalSockets: options.connectionsMax,
    scheduling: "lifo",
  });
  return {
    send: (given) => sendOnce(agent, given),
    close: () => agent.destroy(),
  };
}

function sendOnce(agent: Agent, given: HttpRequest): Promise<HttpAnswer> {
  const { method = "GET", url, headers = {}, body, timeoutMs = 10_000 } = given;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        agent,
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          ...headers,
          ...(payload === undefined
            ? {}
            : {
                "Content-Type": "application/json",
                "Content-Length": String(Buffer.byteLength(payload)),
              }),
        },
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (part: string) => {
          text += part;
          if (text.length > BODY_CHARS_MAX) sent.destroy(new Error("the answer is too long"));
        });
        answer.on("error", reject);
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(payload);
  });
}

/** The body as JSON; undefined when it is none. */
export function jsonOf(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.text);
  } catch {
    return undefined;
  }
}

/** `Retry-After` in milliseconds, within bounds. */
export function retryAfterMs(answer: HttpAnswer, options: { atMost: number }): number {
  const seconds = Number(answer.headers["retry-after"] ?? 1);
  return Math.min(options.atMost, Math.max(100, Number.isFinite(seconds) ? seconds * 1000 : 1000));
}
