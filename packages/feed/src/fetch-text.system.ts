/** `FetchText` and `Sleep` over the runtime's own `fetch` and timers (workerd and Node). */
import { ok, refuse } from "@vestibule/kernel/result";
import { utf8Text } from "@vestibule/keys/text";
import type { FetchRefusal, FetchText, Sleep } from "./ports.ts";
import { type Chunks, readAtMost } from "./read-at-most.ts";

interface Answer {
  readonly status: number;
  readonly body: { getReader(): Chunks; cancel(): Promise<void> } | null;
}
/** The part of the platform's `fetch` that is used. */
export type PlatformFetch = (
  url: string,
  init: {
    method: "GET" | "POST";
    body?: string;
    headers: Record<string, string>;
    redirect: "manual";
    /** The runtime's own AbortSignal: `never`, so that every runtime's `fetch` fits. */
    signal: never;
  },
) => Promise<Answer>;

declare const AbortController: new () => {
  abort(): void;
  readonly signal: { readonly aborted: boolean };
};
declare function setTimeout(run: () => void, ms: number): number;
declare function clearTimeout(timer: number): void;
declare const performance: { now(): number };

/** Each call runs on its own: nothing is kept between calls. */
export function createFetchText(fetch: PlatformFetch): FetchText {
  return async ({ url, accept, body, deadlineMs, bytesMax }) => {
    const startedAt = performance.now();
    const abort = new AbortController();
    const timer = setTimeout(() => {
      abort.abort();
    }, deadlineMs);
    try {
      const answer = await fetch(url, {
        ...(body === undefined
          ? { method: "GET", headers: { Accept: accept } }
          : {
              method: "POST",
              body,
              headers: { Accept: accept, "Content-Type": "application/json" },
            }),
        redirect: "manual",
        signal: abort.signal as never,
      });
      if (answer.status !== 200) {
        await answer.body?.cancel();
        return refuse(statusRefusal(answer.status));
      }
      const bytes = await readAtMost(answer.body?.getReader(), bytesMax);
      if (bytes === undefined) return refuse({ reason: "too-large" });
      const text = utf8Text(bytes);
      if (text === undefined) return refuse({ reason: "not-text" });
      return ok({ text, roundTripMs: performance.now() - startedAt });
    } catch {
      return refuse({ reason: abort.signal.aborted ? "timeout" : "unreachable" });
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Waits for real time. */
export const sleep: Sleep = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** A manual redirect is status 0 in a browser, and the 3xx itself in workerd and Node. */
function statusRefusal(status: number): FetchRefusal {
  const redirect = status === 0 || (status >= 300 && status < 400 && status !== 304);
  return redirect ? { reason: "redirect" } : { reason: "status", status };
}
