import { problem } from "./problem.ts";

declare const sure: unique symbol;

/** The promise of an answer that never rejects. A type of its own, so that none that may is given for one. */
export type Answering = Promise<Response> & { readonly [sure]: true };

/** A broken invariant of ours is a 500 and never opens anything. */
export function answering(work: Promise<Response>): Answering {
  return work.catch(() => problem("internal")) as Answering;
}
