/** The bare spend at the purchase API, and what each answer means for the shop. */
import { isTokenShaped } from "@vestibule/contracts/header-text";
import {
  ADMISSION_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  USER_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import { PROBLEM_TYPE_PREFIX } from "@vestibule/contracts/problems";
import { RETRY_AFTER_MS_DEFAULT, RETRY_AFTER_MS_MAX } from "./limits.ts";
import type { Post, Posted } from "./post.system.ts";
import type { Credentials, Spend, SpendOutcome } from "./types.ts";

/** What is being spent. The jti is known when it was checked here. */
export interface SpendRequest {
  readonly credentials: Credentials;
  readonly jti: string | undefined;
  readonly idempotencyKey: string;
  /** For whom, by the shop's word. */
  readonly vouched: { readonly user: string; readonly shopToken: string } | undefined;
}

/** Never rejects. */
export async function spendAt(
  purchaseUrl: string,
  { credentials, jti, idempotencyKey, vouched }: SpendRequest,
  { post, deadlineMs }: { post: Post; deadlineMs: number },
): Promise<SpendOutcome> {
  const { event, admission, visitor } = credentials;
  const posted = await post({
    url: `${purchaseUrl}/v1/events/${event}/spends`,
    headers: {
      [ADMISSION_HEADER]: admission,
      [VISITOR_HEADER]: visitor,
      [IDEMPOTENCY_KEY_HEADER]: idempotencyKey,
      ...(vouched === undefined
        ? {}
        : { [USER_HEADER]: vouched.user, Authorization: `Bearer ${vouched.shopToken}` }),
    },
    deadlineMs,
  });
  if (posted.kind !== "answered") return away(posted.kind, RETRY_AFTER_MS_DEFAULT);
  return outcomeOf(posted, { event, jti });
}

type Answered = Extract<Posted, { kind: "answered" }>;
type AwayReason = Extract<SpendOutcome, { kind: "away" }>["reason"];

/**
 * Only an answer that is surely the purchase API's own, and surely about this admission, decides:
 * everything else is perhaps spent.
 */
function outcomeOf(
  answer: Answered,
  asked: { readonly event: string; readonly jti: string | undefined },
): SpendOutcome {
  const { status, body } = answer;
  const retryAfterMs = retryAfterMsOf(answer);
  if (status === 201) {
    const spend = readSpend(body, asked);
    return spend === undefined
      ? away("rubbish", retryAfterMs)
      : { kind: "spent", jti: spend.jti, spend };
  }
  const code = problemOf(answer);
  if (code === undefined) return away(status >= 500 ? "unavailable" : "rubbish", retryAfterMs);
  if (code === "already-spent") return { kind: code };
  if (code === "held" || code === "too-many-requests") return { kind: code, retryAfterMs };
  if (code === "in-progress") return away("in-progress", retryAfterMs);
  if (status >= 500 || status === 408) return away("unavailable", retryAfterMs, creditOf(body));
  return { kind: "refused", status, code };
}

function away(reason: AwayReason, retryAfterMs: number, credit?: string): SpendOutcome {
  return { kind: "away", reason, retryAfterMs, ...(credit === undefined ? {} : { credit }) };
}

function readSpend(
  body: unknown,
  asked: { readonly event: string; readonly jti: string | undefined },
): Spend | undefined {
  if (!isObject(body)) return undefined;
  const { event, jti, number, spentAt } = body as Partial<Record<keyof Spend, unknown>>;
  if (event !== asked.event || typeof jti !== "string") return undefined;
  if (asked.jti !== undefined && jti !== asked.jti) return undefined;
  if (!Number.isSafeInteger(number) || !Number.isSafeInteger(spentAt)) return undefined;
  return { event: asked.event, jti, number: number as number, spentAt: spentAt as number };
}

/** A 4xx of a proxy, a wrong address or a login page is no refusal of the purchase API's. */
function problemOf({ status, body }: Answered): string | undefined {
  if (!isObject(body)) return undefined;
  const type = body["type"];
  if (typeof type !== "string" || !type.startsWith(PROBLEM_TYPE_PREFIX)) return undefined;
  return body["status"] === status ? type.slice(PROBLEM_TYPE_PREFIX.length) : undefined;
}

/** The exact wait of the body, else `Retry-After` in seconds; never 0, never longer than an hour. */
function retryAfterMsOf({ body, retryAfter }: Answered): number {
  const exact = isObject(body) ? body["retryAfterMs"] : undefined;
  const seconds = /^\d{1,9}$/.test(retryAfter ?? "") ? Number(retryAfter) * 1000 : undefined;
  const ms = Number.isSafeInteger(exact) ? (exact as number) : seconds;
  if (ms === undefined || ms <= 0) return RETRY_AFTER_MS_DEFAULT;
  return Math.min(ms, RETRY_AFTER_MS_MAX);
}

function creditOf(body: unknown): string | undefined {
  const credit = isObject(body) ? body["credit"] : undefined;
  return isTokenShaped(credit) ? credit : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
