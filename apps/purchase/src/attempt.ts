/** One attempt to spend an admission: what the request carries, checked for form only. */
import {
  ADMISSION_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import { IDEMPOTENCY_KEY_CHARS_MAX } from "@vestibule/contracts/limits";
import { isSlug } from "@vestibule/contracts/slug";
import type { EpochMs } from "@vestibule/kernel/units";
import type { ServiceContext } from "@vestibule/service/app";
import { problem } from "@vestibule/service/problems";

export interface Attempt {
  readonly event: string;
  /** Token text and visitor's secret, as sent; nothing is known about them yet. */
  readonly admission: string;
  readonly visitor: string;
  readonly idempotencyKey: string;
  /** The one reading of the clock for this request. */
  readonly now: EpochMs;
}

/** Visible ASCII: no space, so that two headers in one request (joined with ", ") are refused. */
const IDEMPOTENCY_KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_CHARS_MAX}}$`);

/** @throws AppError `event-not-found`, `bad-request` for the Idempotency-Key. */
export function readAttempt(context: ServiceContext, now: EpochMs): Attempt {
  const idempotencyKey = context.req.header(IDEMPOTENCY_KEY_HEADER) ?? "";
  if (!IDEMPOTENCY_KEY.test(idempotencyKey)) {
    throw problem("bad-request", {
      detail: `${IDEMPOTENCY_KEY_HEADER} must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters`,
    });
  }
  return {
    event: readEvent(context),
    admission: context.req.header(ADMISSION_HEADER) ?? "",
    visitor: context.req.header(VISITOR_HEADER) ?? "",
    idempotencyKey,
    now,
  };
}

/** @throws AppError `event-not-found` when the path holds no event's name. */
export function readEvent(context: ServiceContext): string {
  const event = context.req.param("event") ?? "";
  if (!isSlug(event)) throw problem("event-not-found");
  return event;
}
