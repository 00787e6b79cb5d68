/** `FetchText` and `Sleep` over the runtime's own `fetch` and timers (workerd and Node). */
import { ok, refuse } from "@vestibule/kernel/result";
import type { FetchRefusal, FetchText, Sleep } from "./ports.ts";

interface Chunks {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}
interface Answer {
  readonly status: number;
  readonly body: { getReader(): Chunks; cancel(): Promise<void> } | null;
}
/** The part of the platform's `fetch` that is used. */
export type PlatformFetch = (
  url: string,
  init: {
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
declare const TextDecoder: new (
  label: string,
  options: { fatal: boolean; ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };
declare const performance: { now(): number };

/** Each call runs on its own: nothing is kept between calls. */
export function createFetchText(fetch: PlatformFetch): FetchText {
  return async ({ url, accept, deadlineMs, bytesMax }) => {
    const startedAt = performance.now();
    const abort = new AbortController();
    const timer = setTimeout(() => {
      abort.abort();
    }, deadlineMs);
    try {
      const answer = await fetch(url, {
        headers: { Accept: accept },
        redirect: "manual",
        signal: abort.signal as never,
      });
      if (answer.status !== 200) {
        await answer.body?.cancel();
        return refuse(statusRefusal(answer.status));
      }
      const bytes = await readAtMost(answer, bytesMax);
      if (bytes === undefined) return refuse({ reason: "too-large" });
      const text = decode(bytes);
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

async function readAtMost(answer: Answer, bytesMax: number): Promise<Uint8Array | undefined> {
  if (answer.body === null) return new Uint8Array(0);
  const reader = answer.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) break;
    length += value.byteLength;
    if (length > bytesMax) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
