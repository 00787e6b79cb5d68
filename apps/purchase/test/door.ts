import { AppError } from "@vestibule/kernel/app-error";
import type { EpochMs } from "@vestibule/kernel/units";
import { silentLog } from "@vestibule/service/log";
import { admit, type AdmitDependencies } from "../src/admit.ts";
import { EVENT, ISSUER } from "./purchase-world.ts";

/**
 * A purchase's first step: what becomes of this admission.
 *
 * @throws AppError as `admit`
 */
export async function atTheDoor(
  shown: { admission: string; visitor: string; now: EpochMs; event?: string },
  rules: Pick<AdmitDependencies, "mint"> & Partial<AdmitDependencies>,
): Promise<string> {
  const attempt = {
    ...{ event: EVENT, idempotencyKey: "k", user: undefined, answerHeaders: { set: () => {} } },
    ...shown,
  };
  const defaults = { issuer: ISSUER, skewSeconds: 5, log: silentLog };
  return (await admit(attempt, { ...defaults, ...rules })).kind;
}

/** The same (`"good"`, `"over"`), or the code of the refusal. */
export async function codeOf(becomes: Promise<string>): Promise<string> {
  try {
    return await becomes;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
