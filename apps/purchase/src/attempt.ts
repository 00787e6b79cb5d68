/** One attempt to spend an admission: what the request carries, checked for form only. */
import { isIdempotencyKey, isUser } from "@vestibule/contracts/header-text";
import { IDEMPOTENCY_KEY_CHARS_MAX, USER_CHARS_MAX } from "@vestibule/contracts/limits";
import {
  ADMISSION_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  USER_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import { isSlug } from "@vestibule/contracts/slug";
import type { EpochMs } from "@vestibule/kernel/units";
import type { ServiceContext } from "@vestibule/service/app";
import { problem } from "@vestibule/service/problems";
import type { AnswerHeaders } from "./limiter.ts";
import type { AssertToken } from "./routes/token-check.ts";

export interface Attempt {
  readonly event: string;
  /** Token text and visitor's secret, as sent; nothing is known about them yet. */
  readonly admission: string;
  readonly visitor: string;
  readonly idempotencyKey: string;
  /** The shop's own name for the user, vouched for by the shop's token. */
  readonly user: string | undefined;
  /** Headers that the answer will have, whether it is an order or a refusal. */
  readonly answerHeaders: AnswerHeaders;
  /** The one reading of the clock for this request. */
  readonly now: EpochMs;
}

/**
 * @throws AppError `event-not-found`; `bad-request` for the Idempotency-Key or the user's name;
 * whatever `assertShop` throws for a user that the shop does not vouch for.
 */
export async function readAttempt(
  context: ServiceContext,
  { now, assertShop }: { now: EpochMs; assertShop: AssertToken },
): Promise<Attempt> {
  const idempotencyKey = context.req.header(IDEMPOTENCY_KEY_HEADER) ?? "";
  if (!isIdempotencyKey(idempotencyKey)) {
    throw problem("bad-request", {
      detail: `${IDEMPOTENCY_KEY_HEADER} must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters`,
    });
  }
  return {
    event: readEvent(context),
    admission: context.req.header(ADMISSION_HEADER) ?? "",
    visitor: context.req.header(VISITOR_HEADER) ?? "",
    idempotencyKey,
    user: await readUser(context, assertShop),
    answerHeaders: answerHeadersOf(context),
    now,
  };
}

/** Headers that stay on whatever this request is answered with: hono keeps them, also for a thrown refusal. */
export function answerHeadersOf(context: ServiceContext): AnswerHeaders {
  return { set: (name, value) => context.header(name, value) };
}

/** Anybody can send the header; only the shop's server can send it with the shop's token. */
async function readUser(
  context: ServiceContext,
  assertShop: AssertToken,
): Promise<string | undefined> {
  const user = context.req.header(USER_HEADER);
  if (user === undefined) return undefined;
  await assertShop(context);
  if (isUser(user)) return user;
  throw problem("bad-request", {
    detail: `${USER_HEADER} must have 1 to ${USER_CHARS_MAX} visible ASCII characters`,
  });
}

/** @throws AppError `event-not-found` when the path holds no event's name. */
export function readEvent(context: ServiceContext): string {
  const event = context.req.param("event") ?? "";
  if (!isSlug(event)) throw problem("event-not-found");
  return event;
}
