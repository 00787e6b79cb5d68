/** Joins and claims: POST to the mints in order, each with a deadline. */
import { PROBLEM_TYPE_PREFIX, PROBLEMS, type ProblemCode } from "@vestibule/contracts/problems";
import type { BreakerState } from "@vestibule/feed/breaker";
import type { MintOrder } from "@vestibule/feed/mint-order";
import { readAtMost } from "@vestibule/feed/read-at-most";
import { assert } from "@vestibule/kernel/assert";
import type { Clock } from "@vestibule/kernel/clock";
import type { EpochMs } from "@vestibule/kernel/units";
import { type Circuit, createCircuit } from "./circuit.ts";
import { DeadlineError, settledWithin, withDeadline } from "./deadline.system.ts";
import { readJsonObject } from "./json-object.ts";
import { GRANT_DEADLINE_MS, PROBE_PATIENCE_MS, UPSTREAM_BYTES_MAX } from "./limits.ts";
import type { Seen } from "./seen.ts";
import type { Background, Fetch } from "./visit.ts";

type Members = Readonly<Record<string, unknown>>;

/** The mint decided against it: what it said, by a code of `ANSWERS`. */
export interface MintRefusal {
  readonly kind: "refused";
  readonly code: ProblemCode;
  readonly retryAfterSeconds: number | undefined;
  readonly body: Members;
}

type Answered<Grant> =
  | { readonly kind: "granted"; readonly status: number; readonly grant: Grant }
  | MintRefusal;

/** `away`: no mint answered, or none that answered was able to grant. */
export type MintReply<Grant> = Answered<Grant> | { readonly kind: "away" };

/** What a mint decides about a join or a claim. Any other refusal is trouble of its own, or of ours: another mint may grant. */
const ANSWERS = new Set<ProblemCode>([
  "event-not-found",
  "event-ended",
  "slot-over",
  "too-early",
  "too-many-requests",
  "sold-out",
  "confirm-presence",
  "held",
  "unavailable",
]);

const GRANTS = ["tickets", "admissions"] as const;

export interface Question<Grant> {
  readonly event: string;
  readonly what: (typeof GRANTS)[number];
  /** Nothing of it is ever logged. */
  readonly body: object;
  /** What a mint answers as granted, read; `undefined`: it is no grant, and another mint is asked. */
  readonly read: (members: Members) => Grant | undefined;
}

export interface MintClient {
  post<Grant>(
    question: Question<Grant>,
    at: { now: EpochMs; background: Background },
  ): Promise<MintReply<Grant>>;
  /** In the order of the configuration: of each the one that is furthest from closed. */
  circuits(now: EpochMs): readonly BreakerState[];
}

/**
 * A grant is safe to ask of the next mint after a timeout: the same visitor gets the same number, and an admission is
 * named by its number.
 *
 * A mint that let the deadline pass is asked no more for a while, and then by one request at a time, which is not kept
 * waiting for it: what comes of the question closes the circuit, and whoever asked gets the same place or admission
 * with the next try. As long as another mint grants, nobody asks it. Joins and claims each have a circuit of their own: a
 * mint whose database hangs gives places all the same, from the block that it has.
 */
export function createMintClient(parts: {
  readonly mints: MintOrder;
  readonly mintUrls: readonly string[];
  readonly clock: Clock;
  readonly seen: Seen;
  readonly fetch: Fetch;
}): MintClient {
  const { mints, mintUrls, clock, seen, fetch } = parts;
  const circuits = mintUrls.map((url) => {
    const of = (grant: string) =>
      createCircuit({ url, grant, deadlineMs: GRANT_DEADLINE_MS }, seen);
    return { url, tickets: of("tickets"), admissions: of("admissions") };
  });

  function circuitOf(base: string, what: (typeof GRANTS)[number]): Circuit {
    const found = circuits.find(({ url }) => url === base)?.[what];
    assert(found !== undefined, "each mint has its circuits");
    return found;
  }

  /** Asks one mint, and keeps in mind what came of it. */
  async function ask<Grant>(
    base: string,
    question: Question<Grant>,
  ): Promise<Answered<Grant> | undefined> {
    const { event, what } = question;
    const circuit = circuitOf(base, what);
    const mark = circuit.mark();
    const url = `${base}/v1/events/${event}/${what}`;
    const tried = await tryOne(url, question, fetch);
    const now = clock.now();
    if (tried === "timeout") circuit.timedOut(now, mark);
    else circuit.answered(now);
    if (typeof tried === "string") {
      mints.failed(base, now);
      seen.tell("mintFailed", { kind: "mint-failed", url, reason: tried });
      return undefined;
    }
    if (!isStandby(tried)) mints.worked(base);
    return tried;
  }

  return {
    circuits: (now) =>
      circuits.map((circuit) => {
        const states = GRANTS.map((what) => circuit[what].state(now));
        return states.find((state) => state === "open") ?? states.find(isNotClosed) ?? "closed";
      }),
    async post(question, { now, background }) {
      let held: MintRefusal | undefined;
      const urls = mints.urls(now);
      const { what } = question;
      for (const base of urls) {
        // It may have opened while this request waited for another mint.
        if (isNotClosed(circuitOf(base, what).state(clock.now()))) continue;
        const reply = await ask(base, question);
        if (reply !== undefined && !isStandby(reply)) return reply;
        held = reply ?? held;
      }
      // Whoever has waited already waits for nobody else.
      const isLate = clock.now() - now >= PROBE_PATIENCE_MS;
      const resting = isLate
        ? undefined
        : urls.find((base) => circuitOf(base, what).probe(clock.now()));
      if (resting !== undefined) {
        const asking = ask(resting, question);
        background.waitUntil(asking);
        const reply = await settledWithin(PROBE_PATIENCE_MS, asking);
        if (reply !== undefined && !isStandby(reply)) return reply;
        held = reply ?? held;
      }
      return held ?? { kind: "away" };
    },
  };
}

function isNotClosed(state: BreakerState): boolean {
  return state !== "closed";
}

/** 503 of a standby: the next one may lead. 503 `held` is the leader's own word. */
function isStandby(reply: Answered<unknown>): reply is MintRefusal {
  return reply.kind === "refused" && reply.code === "unavailable";
}

async function tryOne<Grant>(
  url: string,
  { body, read }: Question<Grant>,
  fetch: Fetch,
): Promise<Answered<Grant> | "timeout" | "failed"> {
  try {
    const reply = await withDeadline(GRANT_DEADLINE_MS, async (signal) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json" },
        body: JSON.stringify(body),
        redirect: "manual",
        signal,
      });
      return await readReply(response, read);
    });
    return reply ?? "failed";
  } catch (error) {
    return error instanceof DeadlineError ? "timeout" : "failed";
  }
}

async function readReply<Grant>(
  response: Response,
  read: (members: Members) => Grant | undefined,
): Promise<Answered<Grant> | undefined> {
  const bytes = await readAtMost(response.body?.getReader(), UPSTREAM_BYTES_MAX);
  if (bytes === undefined) return undefined;
  const body = readJsonObject(new TextDecoder().decode(bytes));
  if (body === undefined) return undefined;
  const { status } = response;
  if (status === 200 || status === 201) {
    const grant = read(body);
    return grant === undefined ? undefined : { kind: "granted", status, grant };
  }
  const code = codeOf(body["type"]);
  if (code === undefined || !ANSWERS.has(code)) return undefined;
  return { kind: "refused", code, retryAfterSeconds: retryAfterOf(response), body };
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
