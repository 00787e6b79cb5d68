/** Compares what a verifier answered with what the vectors expect. */
import type { Vector } from "./pack.ts";

/** One line of a verifier's output. `reason` may be in its own words. */
export interface Answer {
  readonly id: string;
  readonly ok: boolean;
  readonly reason?: string;
}

export interface Verdict {
  readonly vectors: number;
  /** Bad: a token that must be refused was accepted. */
  readonly wronglyAccepted: readonly Vector[];
  /** Bad: a good token was refused. */
  readonly wronglyRefused: readonly Refused[];
  /** Bad: nothing was said. */
  readonly unanswered: readonly Vector[];
  /** A note: refused as it should be, and said to be for another reason, or for the same in other words. */
  readonly otherReasons: readonly Refused[];
}

export interface Refused {
  readonly vector: Vector;
  readonly reason: string | undefined;
}

export function judge(vectors: readonly Vector[], answers: ReadonlyMap<string, Answer>): Verdict {
  const wronglyAccepted: Vector[] = [];
  const wronglyRefused: Refused[] = [];
  const unanswered: Vector[] = [];
  const otherReasons: Refused[] = [];
  for (const vector of vectors) {
    const { ok, reason } = vector.expected;
    const answer = answers.get(vector.id);
    if (answer === undefined) unanswered.push(vector);
    else if (answer.ok && !ok) wronglyAccepted.push(vector);
    else if (!answer.ok && ok) wronglyRefused.push({ vector, reason: answer.reason });
    else if (!ok && answer.reason !== undefined && answer.reason !== reason)
      otherReasons.push({ vector, reason: answer.reason });
  }
  return { vectors: vectors.length, wronglyAccepted, wronglyRefused, unanswered, otherReasons };
}

export function agrees(verdict: Verdict): boolean {
  const { wronglyAccepted, wronglyRefused, unanswered } = verdict;
  return wronglyAccepted.length + wronglyRefused.length + unanswered.length === 0;
}

/** @returns undefined for a line that is no answer: `id` a text, `ok` true or false, `reason` a text or absent. */
export function readAnswer(line: string): Answer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { id, ok, reason } = value as Readonly<Record<"id" | "ok" | "reason", unknown>>;
  if (typeof id !== "string" || typeof ok !== "boolean") return undefined;
  if (reason === undefined || reason === null) return { id, ok };
  return typeof reason === "string" ? { id, ok, reason } : undefined;
}
