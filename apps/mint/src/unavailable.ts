import type { AppError } from "@vestibule/kernel/app-error";
import { problem } from "@vestibule/service/problems";
import { UNAVAILABLE_RETRY_SECONDS } from "./limits.ts";

/** Waiting helps, here or at another mint. @param internal why, for the log. */
export function unavailable(internal: string, cause?: unknown): AppError {
  const retryAfterSeconds = UNAVAILABLE_RETRY_SECONDS;
  return problem("unavailable", { internal, retryAfterSeconds, cause });
}
