/** Joins and claims: POST to the mints in order, each with a deadline. */
import { PROBLEM_TYPE_PREFIX, PROBLEMS, type ProblemCode } from "@vestibule/contracts/problems";
import type { BreakerState } from "@vestibule/feed/breaker";
import type { MintOrder } from "@vestibule/feed/mint-order";
import { readAtMost } from "@vestibule/feed/read-at-most";
import type { Clock } from "@vestibule/kernel/clock";
import type { EpochMs } from "@vestibule/kernel/units";
import { createCircuit } from "./circuit.ts";
import { DeadlineError, settledWithin, withDeadline } from "./deadline.system.ts";
import { GRANT_DEADLINE_MS, PROBE_PATIENCE_MS, UPSTREAM_BYTES_MAX } from "./limits.ts";
import type { Seen } from "./seen.ts";
import type { Background, Fetch } from "./visit.ts";

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
  /** @param path of the mint's API; nothing of `body` is ever logged. */
  post(
    path: string,
    body: object,
    at: { now: EpochMs; background: Background },
  ): Promise<MintReply>;
  /** In the order of the configuration. */
  circuits(now: EpochMs): readonly BreakerState[];
}

type Tried = MintReply | "timeout" | "failed";

/**
 * A grant is safe to ask of the next mint after a timeout: the same visitor gets the same number, and an admission is
 * named by its number.
 *
 * A mint that let the deadline pass is asked no more for a while, and then by one request at a time, which is not kept
 * waiting for it: what comes of the question closes the circuit, and whoever asked gets the same place or admission
 * with the next try. As long as another mint grants, nobody asks it.
 */
export function createMintClient(parts: {
  readonly mints: MintOrder;
  readonly mintUrls: readonly string[];
  readonly clock: Clock;
  readonly seen: Seen;
  readonly fetch: Fetch;
}): MintClient {
  const { mints, mintUrls, clock, seen, fetch } = parts;
  const circuits = new Map(
    mintUrls.map((url) => [url, createCircuit({ url, deadlineMs: GRANT_DEADLINE_MS }, seen)]),
  );
  const isClosed = (base: string) => circuits.get(base)?.state(clock.now()) === "closed";

  /** Asks one mint, and keeps in mind what came of it. */
  async function ask(base: string, path: string, body: object): Promise<MintReply | undefined> {
    const tried = await tryOne(base + path, body, fetch);
    const now = clock.now();
    if (tried === "timeout") circuits.get(base)?.timedOut(now);
    else circuits.get(base)?.answered(now);
    if (typeof tried === "string") {
      mints.failed(base, now);
      seen.tell("mintFailed", { kind: "mint-failed", url: base + path, reason: tried });
      return undefined;
    }
    if (!isStandby(tried)) mints.worked(base);
    return tried;
  }

  return {
    circuits: (now) => [...circuits.values()].map((circuit) => circuit.state(now)),
    async post(path, body, { now, background }) {
      let held: MintReply | undefined;
      const urls = mints.urls(now);
      for (const base of urls) {
        // It may have opened while this request waited for another mint.
        if (!isClosed(base)) continue;
        const reply = await ask(base, path, body);
        if (reply !== undefined && !isStandby(reply)) return reply;
        held = reply ?? held;
      }
      // Whoever has waited already waits for nobody else.
      const isLate = clock.now() - now >= PROBE_PATIENCE_MS;
      const resting = isLate
        ? undefined
        : urls.find((base) => circuits.get(base)?.probe(clock.now()));
      if (resting !== undefined) {
        const asking = ask(resting, path, body);
        background.waitUntil(asking);
        const reply = await settledWithin(PROBE_PATIENCE_MS, asking);
        if (reply !== undefined && !isStandby(reply)) return reply;
        held = reply ?? held;
      }
      return held ?? { kind: "away" };
    },
  };
}

/** 503 of a standby: the next one may lead. 503 `held` is the leader's own word. */
function isStandby(reply: MintReply): boolean {
  return reply.kind === "refused" && reply.code === "unavailable";
}

async function tryOne(url: string, body: object, fetch: Fetch): Promise<Tried> {
  try {
    const reply = await withDeadline(GRANT_DEADLINE_MS, async (signal) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json" },
        body: JSON.stringify(body),
        redirect: "manual",
        signal,
      });
      return await readReply(response);
    });
    return reply ?? "failed";
  } catch (error) {
    return error instanceof DeadlineError ? "timeout" : "failed";
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
