import type { Mistake } from "@vestibule/contracts/parse";
import { problem } from "@vestibule/service/problems";

/** 422 with every mistake at once. */
export function refusedSettings(errors: readonly Mistake[]): Error {
  const fields = errors.map(({ field }) => field).filter((field) => field !== "");
  return problem("invalid-settings", {
    detail: fields.length === 0 ? "The body must be an object" : `See: ${fields.join(", ")}`,
    extensions: { errors },
  });
}
