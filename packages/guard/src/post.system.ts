/** One POST with a deadline over head and body together, over the platform's `fetch` and timers. */
import { type Chunks, readAtMost } from "@vestibule/feed/read-at-most";
import { utf8Text } from "@vestibule/keys/text";
import { ANSWER_BYTES_MAX } from "./limits.ts";

export type Posted =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | null;
      /** `undefined`: not JSON, not UTF-8, or longer than it may be. */
      readonly body: unknown;
    }
  | { readonly kind: "unreachable" | "timeout" };

export type Post = (request: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
}) => Promise<Posted>;

interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): Chunks } | null;
}
/** The part of the platform's `fetch` that is used. */
export type PostFetch = (
  url: string,
  init: {
    method: "POST";
    headers: Record<string, string>;
    redirect: "manual";
    signal: never;
  },
) => Promise<Answer>;

declare const AbortController: new () => {
  abort(): void;
  readonly signal: { readonly aborted: boolean };
};
declare function setTimeout(run: () => void, ms: number): number;
declare function clearTimeout(timer: number): void;

/** Never rejects, never follows a redirect, and ends by the deadline whatever `fetch` does. */
export function createPost(fetch: PostFetch): Post {
  return async ({ url, headers, deadlineMs }) => {
    const abort = new AbortController();
    let timer = 0;
    const late = new Promise<Posted>((resolve) => {
      timer = setTimeout(() => {
        abort.abort();
        resolve({ kind: "timeout" });
      }, deadlineMs);
    });
    const ask = async (): Promise<Posted> => {
      try {
        const init = { method: "POST", headers: { ...headers }, redirect: "manual" } as const;
        const answer = await fetch(url, { ...init, signal: abort.signal as never });
        const retryAfter = answer.headers.get("Retry-After");
        return {
          kind: "answered",
          status: answer.status,
          retryAfter,
          body: await readJson(answer),
        };
      } catch {
        return { kind: abort.signal.aborted ? "timeout" : "unreachable" };
      }
    };
    try {
      return await Promise.race([ask(), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Rejects when the connection breaks off; rubbish is `undefined`. */
async function readJson({ body }: Answer): Promise<unknown> {
  const bytes = await readAtMost(body?.getReader(), ANSWER_BYTES_MAX);
  const text = bytes === undefined ? undefined : utf8Text(bytes);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
