import { expect, test } from "vitest";
import { readAtMost } from "../src/read-at-most.ts";

/** A body of these chunks; says how much of it was asked for, and whether the rest was cancelled. */
function body(chunks: readonly string[]) {
  const seen = { pulled: 0, cancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[seen.pulled];
        if (chunk === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(chunk));
        seen.pulled += 1;
      },
      cancel() {
        seen.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, reader: stream.getReader() };
}
const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

test("all of a body, up to the very last byte that it may have", async () => {
  expect(text(await readAtMost(undefined, 0))).toBe("");
  expect(text(await readAtMost(body([]).reader, 0))).toBe("");
  expect(text(await readAtMost(body(["ab", "", "cd"]).reader, 4))).toBe("abcd");
  expect(text(await readAtMost(body(["…"]).reader, 3))).toBe("…");
});

test("a body without end is left after the first byte too many", async () => {
  const { seen, reader } = body(Array.from({ length: 1_000 }, () => "0123456789"));
  expect(await readAtMost(reader, 25)).toBeUndefined();
  expect(seen).toEqual({ pulled: 3, cancelled: true });
});

test("a body that breaks off is no body", async () => {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(2));
      controller.error(new Error("cut off"));
    },
  });
  await expect(readAtMost(stream.getReader(), 10)).rejects.toThrow("cut off");
});
