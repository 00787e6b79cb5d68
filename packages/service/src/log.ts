/** Structured log: one JSON object per line. Values are what the caller names; headers and bodies never are. */
import type { Clock } from "@vestibule/kernel/clock";
import { AppError } from "@vestibule/kernel/app-error";

/** What every line says of itself. A field of such a name would hide it, so there is none. */
type LineName = "time" | "level" | "service" | "msg";
export type LogFields = Readonly<Record<string, unknown>> & { readonly [Name in LineName]?: never };

export interface Log {
  /** @param msg what happened, a fixed text: lines are looked for by it. */
  info(msg: string, fields?: LogFields): void;
  warn(msg: string, fields?: LogFields): void;
  /** @param error its message and stack are logged; nothing of it reaches a caller. */
  error(msg: string, error: unknown, fields?: LogFields): void;
  /** A log whose lines carry `fields` too. */
  with(fields: LogFields): Log;
}

export interface LogOptions {
  readonly service: string;
  readonly clock: Clock;
  /** Takes one line without its line end. */
  readonly write: (line: string) => void;
}

/** How many causes of an error are followed. */
const CAUSES_MAX = 4;
const TEXT_CHARS_MAX = 4_000;

export function createLog({ service, clock, write }: LogOptions): Log {
  const child = (bound: LogFields): Log => {
    const line = (level: string, msg: string, fields: LogFields): void => {
      const head = { time: new Date(clock.now()).toISOString(), level, service, msg };
      // First for whoever reads, and last: what a spread object brought along does not replace it.
      const text = stringify({ ...head, ...bound, ...fields, ...head });
      write(text ?? JSON.stringify({ ...head, fields: "not serializable" }));
    };
    return {
      info: (msg, fields = {}) => line("info", msg, fields),
      warn: (msg, fields = {}) => line("warn", msg, fields),
      error: (msg, error, fields = {}) =>
        line("error", msg, { ...fields, error: describeError(error) }),
      with: (fields) => child({ ...bound, ...fields }),
    };
  };
  return child({});
}

/** A log that nobody reads. */
export const silentLog: Log = {
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
};

/** Name, message, code, stack and causes of an error: no other members, which may hold query values. */
export function describeError(error: unknown, depth: number = 0): unknown {
  if (!(error instanceof Error)) return { message: clip(String(error)) };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return {
    name: error.name,
    message: clip(error instanceof AppError ? (error.internal ?? error.message) : error.message),
    ...(code === undefined ? {} : { code }),
    ...(error.stack === undefined ? {} : { stack: clip(error.stack) }),
    ...(error.cause === undefined || depth >= CAUSES_MAX
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
  };
}

function clip(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX)}…`;
}

function stringify(record: Readonly<Record<string, unknown>>): string | undefined {
  try {
    return JSON.stringify(record, (_key, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
  } catch {
    return undefined;
  }
}
