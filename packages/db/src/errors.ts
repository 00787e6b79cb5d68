/** What PostgreSQL trouble looks like to callers: `unavailable` when waiting helps, untouched when it is a fault of ours. */
import type { ProblemCode } from "@vestibule/contracts/problems";
import { AppError } from "@vestibule/kernel/app-error";

/** How long a caller waits before it asks again, seconds. */
export const DATABASE_RETRY_AFTER_SECONDS = 2;

/** Codes of the driver and of the network below it. */
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "DATABASE_DEADLINE",
  "DATABASE_BUSY",
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** SQLSTATE that another attempt, or another server, may not have (PostgreSQL manual, appendix A). */
const PASSING_STATES: ReadonlySet<string> = new Set([
  "25006", // read-only transaction: a demoted or recovering server
  "25P02", // the transaction failed before
  "25P03", // idle in transaction for too long
  "25P04", // transaction timeout
  "40001", // serialization failure
  "40P01", // deadlock
  "55P03", // lock timeout
  "57014", // statement timeout or cancel
  "57P01", // the server shuts down
  "57P02", // the server crashed
  "57P03", // the server starts up
  "57P05", // idle session timeout
]);
/** Connection exceptions, insufficient resources (connections, memory, disk), system errors. */
const PASSING_CLASSES: ReadonlySet<string> = new Set(["08", "53", "58"]);

/** The SQLSTATE or the driver's code of `error`, when it has one. */
export function databaseErrorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** True for SQLSTATE 23505: somebody else's row has this key. */
export function isUniqueViolation(error: unknown): boolean {
  return databaseErrorCode(error) === "23505";
}

/** True when the same call may succeed later, without a change of ours. */
export function isPassing(error: unknown): boolean {
  const code = databaseErrorCode(error);
  if (code === undefined) return false;
  return (
    CONNECTION_CODES.has(code) ||
    PASSING_STATES.has(code) ||
    (code.length === 5 && PASSING_CLASSES.has(code.slice(0, 2)))
  );
}

/** `AppError("unavailable")` for passing trouble; everything else as it is, to become a 500. */
export function toServiceError(error: unknown): unknown {
  if (error instanceof AppError || !isPassing(error)) return error;
  const code: ProblemCode = "unavailable";
  return new AppError(code, {
    internal: `PostgreSQL: ${databaseErrorCode(error)}`,
    retryAfterSeconds: DATABASE_RETRY_AFTER_SECONDS,
    cause: error,
  });
}
