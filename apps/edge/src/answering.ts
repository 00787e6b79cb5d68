import { problem } from "./problem.ts";
import { allowedOrigin, shareWith } from "./routing/cross-origin.ts";
import type { Edge } from "./visit.ts";

declare const sure: unique symbol;

/** The promise of an answer that never rejects. A type of its own, so that none that may is given for one. */
export type Answering = Promise<Response> & { readonly [sure]: true };

/** Whose request it is. */
interface Asked {
  readonly edge: Edge;
  readonly request: Request;
}

/** A broken invariant of ours is a 500 and never opens anything. */
export function answering(asked: Asked, work: Promise<Response>): Answering {
  return work.catch((error: unknown) => broken(asked, error)) as Answering;
}

/** The pages of a sale can read it, as every refusal. */
export function broken({ edge, request }: Asked, error: unknown): Response {
  const refused = brokenPlain(edge, error);
  try {
    return shareWith(refused, allowedOrigin(request, edge.routes()));
  } catch {
    // What is broken may be the routes themselves.
    return refused;
  }
}

/** Without what lets other pages read it. Of the error only its kind is told: what it says may hold anything. */
export function brokenPlain({ seen }: Edge, error: unknown): Response {
  const name = error instanceof Error ? error.name : "unknown";
  seen.tell("internal", { kind: "internal", error: name });
  return problem("internal");
}
