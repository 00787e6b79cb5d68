/** The body that a client sends on to the origin. */
import type { Visit } from "../visit.ts";

export interface ClientBody {
  readonly stream: ReadableStream<Uint8Array> | null;
  /** Aborts when it breaks off or is malformed on its way to us: not the origin's fault. */
  readonly broken: AbortSignal;
  /** Grows with every piece that passes: while it does, nobody is too slow. */
  readonly moves: () => number;
  /** The client owes the next piece, not the origin room for it. */
  readonly isAwaited: () => boolean;
}

/**
 * It passes piece by piece as it comes, under the length that was stated, and never more of it is held than one
 * piece. Through our hands, since the runtime tells neither whether it moves nor whose fault it is that it broke.
 * `undefined` when there is none: a GET or HEAD has none, whatever its head says, for what one means is not defined
 * (RFC 9110 section 9.3.1) and the runtime sends none.
 */
export function clientBody({ request, head, method }: Visit): ClientBody | undefined {
  if (isWithoutBody(method)) return undefined;
  const { body } = request;
  return body === null ? undefined : watched(body, head.length);
}

export function isWithoutBody(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function watched(body: ReadableStream<Uint8Array>, length: number | undefined): ClientBody {
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const broken = new AbortController();
  let moves = 0;
  let isAwaited = false;
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      isAwaited = true;
      try {
        const { done, value } = await reader.read();
        moves += 1;
        isAwaited = false;
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
  return {
    stream: length === undefined ? stream : ofLength(stream, length),
    broken: broken.signal,
    moves: () => moves,
    isAwaited: () => isAwaited,
  };
}

/** The runtime states the length of such a stream, and sends any other in chunks. */
function ofLength(stream: ReadableStream<Uint8Array>, length: number): ReadableStream<Uint8Array> {
  const { readable, writable } = new FixedLengthStream(length);
  // What goes wrong here shows at the other end.
  stream.pipeTo(writable).catch(() => undefined);
  return readable;
}
