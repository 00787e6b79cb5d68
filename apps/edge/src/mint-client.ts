/** Joins and claims: POST to the mints in order, each with a deadline. */
import { PROBLEM_TYPE_PREFIX, PROBLEMS, type ProblemCode } from "@vestibule/contracts/problems";
import { type EpochMs } from "@vestibule/kernel/units";
import type { MintOrder } from "@vestibule/feed/mint-order";
import { readAtMost } from "@vestibule/feed/read-at-most";
import { withDeadline } from "./deadline.system.ts";
import { GRANT_DEADLINE_MS, UPSTREAM_BYTES_MAX } from "./limits.ts";

export type MintReply =
  | { readonly kind: "granted"; readonly status: number; readonly body: Record<string, unknown> }
  /** The mint decided against it: what it said, by code. */
  | {
      readonly kind: "refused";
      readonly code: ProblemCode;
      readonly retryAfterSeconds: number | undefined;
      readonly body: Record<string, unknown>;
    }
  /** No mint answered, or none that answered was able to grant. */
  | { readonly kind: "away" };

export interface MintClient {
  post(path: string, body: object, now: EpochMs): Promise<MintReply>;
}

/**
 * A grant is safe to ask of the next mint after a timeout: the same visitor gets the same number, and
 * an admission is named by its number.
 */
export function createMintClient(
  mints: MintOrder,
  fetch: (url: string, init: RequestInit) => Promise<Response>,
): MintClient {
  return {
    async post(path, body, now) {
      let held: MintReply | undefined;
      for (const base of mints.urls(now)) {
        const reply = await tryOne(base + path, body, fetch);
        if (reply === undefined) {
          mints.failed(base, now);
          continue;
        }
        // 503 of a standby: the next one may lead. 503 `held` is the leader's own word.
        if (reply.kind === "refused" && reply.code === "unavailable") {
          held = reply;
          continue;
        }
        mints.worked(base);
        return reply;
      }
      return held ?? { kind: "away" };
    },
  };
}

async function tryOne(
  url: string,
  body: object,
  fetch: (url: string, init: RequestInit) => Promise<Response>,
): Promise<MintReply | undefined> {
  try {
    return await withDeadline(GRANT_DEADLINE_MS, async (signal) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json" },
        body: JSON.stringify(body),
        redirect: "manual",
        signal,
      });
      return await readReply(response);
    });
  } catch {
    return undefined;
  }
}

async function readReply(response: Response): Promise<MintReply | undefined> {
  const bytes = await readAtMost(response.body?.getReader(), UPSTREAM_BYTES_MAX);
  if (bytes === undefined) return undefined;
  const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
  const members = body as Record<string, unknown>;
  const { status } = response;
  if (status === 200 || status === 201) return { kind: "granted", status, body: members };
  const code = codeOf(members["type"]);
  if (code === undefined || PROBLEMS[code].status >= 500) {
    return code === "held" || code === "unavailable"
      ? { kind: "refused", code, retryAfterSeconds: retryAfterOf(response), body: members }
      : undefined;
  }
  return { kind: "refused", code, retryAfterSeconds: retryAfterOf(response), body: members };
}

function codeOf(type: unknown): ProblemCode | undefined {
  if (typeof type !== "string" || !type.startsWith(PROBLEM_TYPE_PREFIX)) return undefined;
  const code = type.slice(PROBLEM_TYPE_PREFIX.length);
  return Object.hasOwn(PROBLEMS, code) ? (code as ProblemCode) : undefined;
}

function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get("retry-after") ?? "";
  return /^\d{1,6}$/.test(text) ? Math.max(1, Number(text)) : undefined;
}
