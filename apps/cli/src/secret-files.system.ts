import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { CliFailure } from "./failure.ts";
import { LINE_BYTES_MAX } from "./limits.ts";
import type { SecretFiles } from "./platform.ts";
import { oneLine } from "./terminal/words.ts";

const OWNER_ONLY = 0o600;
const CHUNK_BYTES = 1_048_576;
const NEWLINE = 10;

/**
 * @param resolve a path as it was typed to one that can be opened.
 * @throws CliFailure where the machine refuses: no such folder, no right, a full disk.
 */
export function systemSecretFiles(resolve: (path: string) => string): SecretFiles {
  return {
    read: (path) =>
      told(path, "read", () =>
        existsSync(resolve(path)) ? readFileSync(resolve(path), "utf8") : undefined,
      ),

    create: (path, text) =>
      told(path, "written", () => {
        if (existsSync(resolve(path))) return false;
        // Exclusive: whoever came in between keeps theirs, and this fails.
        withFile(resolve(path), "wx", (file) => write(file, text, 0));
        syncDirectory(resolve(path));
        return true;
      }),

    *lines(path) {
      const file = told(path, "read", () => openSync(resolve(path), "r"));
      try {
        yield* linesOf((chunk) => told(path, "read", () => readSync(file, chunk)));
      } finally {
        closeSync(file);
      }
    },

    measure: (path) =>
      told(path, "read", () =>
        existsSync(resolve(path)) ? withFile(resolve(path), "r", measure) : undefined,
      ),

    append: (path, { at, text }) =>
      told(path, "written", () =>
        withFile(resolve(path), "r+", (file) => {
          if (fstatSync(file).size < at)
            throw new CliFailure(
              "The output is shorter than it was: does the same command run twice?",
            );
          ftruncateSync(file, at);
          return at + write(file, text, at);
        }),
      ),

    remove: (path) =>
      told(path, "removed", () => {
        rmSync(resolve(path), { force: true });
        syncDirectory(resolve(path));
      }),
  };
}

function told<Value>(path: string, what: string, use: () => Value): Value {
  try {
    return use();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    throw new CliFailure(`${oneLine(path)} cannot be ${what}: ${code}.`);
  }
}

function withFile<Value>(path: string, flags: string, use: (file: number) => Value): Value {
  const file = openSync(path, flags, OWNER_ONLY);
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

function write(file: number, text: string, at: number): number {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;)
    written += writeSync(file, bytes, written, bytes.length - written, at + written);
  fsyncSync(file);
  return bytes.length;
}

function measure(file: number): { lines: number; bytes: number } {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let lines = 0;
  let bytes = 0;
  for (let at = 0; ;) {
    const length = readSync(file, chunk, 0, chunk.length, at);
    if (length === 0) return { lines, bytes };
    for (let from = chunk.indexOf(NEWLINE); from !== -1 && from < length;) {
      lines += 1;
      bytes = at + from + 1;
      from = chunk.indexOf(NEWLINE, from + 1);
    }
    at += length;
  }
}

function* linesOf(read: (chunk: Buffer) => number): Iterable<string> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let begun = Buffer.alloc(0);
  for (;;) {
    const length = read(chunk);
    if (length === 0) return;
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1 || end >= length) break;
      yield Buffer.concat([begun, chunk.subarray(from, end)]).toString("utf8");
      begun = Buffer.alloc(0);
      from = end + 1;
    }
    begun = Buffer.concat([begun, chunk.subarray(from, length)]);
    if (begun.length > LINE_BYTES_MAX)
      throw new CliFailure("A line of it is too long to be of ours.");
  }
}

/** That the file is there is on disk as well. */
function syncDirectory(path: string): void {
  withFile(dirname(path), "r", fsyncSync);
}
