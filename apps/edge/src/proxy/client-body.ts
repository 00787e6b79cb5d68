/** The body that a client sends on to the origin. */
import type { Visit } from "../visit.ts";

export interface ClientBody {
  readonly stream: ReadableStream<Uint8Array> | null;
  /** Aborts when it breaks off or is malformed on its way to us: not the origin's fault. */
  readonly broken: AbortSignal | null;
}

const NONE: ClientBody = { stream: null, broken: null };

/**
 * A GET or HEAD has none, whatever its head says: what one means is not defined (RFC 9110 section 9.3.1),
 * and the runtime sends none. A body of stated length is passed as it is. One in chunks can be malformed, and the
 * runtime does not tell that from an origin that went away, so it goes through our hands.
 */
export function clientBody({ request, head, method }: Visit): ClientBody {
  if (isWithoutBody(method)) return NONE;
  const { body } = request;
  if (body === null) return NONE;
  return head.hasLength ? { stream: body, broken: null } : watched(body);
}

export function isWithoutBody(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function watched(body: ReadableStream<Uint8Array>): ClientBody {
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const broken = new AbortController();
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        // First: a stream in error alone would be ended by the runtime as if it were whole.
        broken.abort();
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { stream, broken: broken.signal };
}
