/** Laws 1 and 2, by the answers to joins and by every statement that anybody was shown. */
import type { Joined, Statement, Trace } from "../trace.ts";
import type { Slots } from "./slots.ts";

/** No number for two visitors; a ticket says what its answer says, and one visitor has one name. */
export function numberViolations({ joined }: Pick<Trace, "joined">): readonly string[] {
  const found: string[] = [];
  const visitors = new Map<number, string>();
  const names = new Map<string, string>();
  for (const { visitor, number, ticketNumber, holder } of joined) {
    const other = visitors.get(number) ?? visitor;
    if (other !== visitor) found.push(`law 1: number ${number} was given to two visitors`);
    visitors.set(number, visitor);
    if (ticketNumber !== number) {
      found.push(`law 1: the ticket of number ${number} says ${ticketNumber}`);
    }
    const name = names.get(visitor) ?? holder;
    if (name !== holder) found.push(`law 1: the ticket of number ${number} is another visitor's`);
    names.set(visitor, name);
  }
  return found;
}

/** A place that is shown with its ticket stays the same until its claim window is over. */
export function placeViolations(
  { joined }: { readonly joined: readonly Joined[] },
  { slots, claimWindowMs }: { slots: Slots; claimWindowMs: number },
): readonly string[] {
  return joined.flatMap(({ shown, number, at }) => {
    if (shown === undefined || shown === number) return [];
    const opens = slots.get(shown);
    if (opens !== undefined && at > opens + claimWindowMs) return [];
    return [`law 2: number ${shown}, whose turn was not over, became ${number}`];
  });
}

/**
 * One statement number is one statement, whoever shows it; later statements serve no less; and no source goes back
 * to an older one. The mints are one source: only the leader speaks.
 */
export function statementViolations(statements: readonly Statement[]): readonly string[] {
  const found: string[] = [];
  const bySeq = new Map<number, Statement>();
  for (const statement of statements) {
    const same = bySeq.get(statement.seq) ?? statement;
    if (same.digest !== statement.digest) {
      found.push(`law 2: statement ${statement.seq} of ${statement.source} says something else`);
    }
    bySeq.set(statement.seq, same);
  }
  let before: Statement | undefined;
  for (const statement of [...bySeq.values()].toSorted((a, b) => a.seq - b.seq)) {
    if (before !== undefined && statement.serving < before.serving) {
      found.push(
        `law 2: statement ${statement.seq} serves ${statement.serving} after ${before.serving}`,
      );
    }
    before = statement;
  }
  const sources = Map.groupBy(statements, ({ source }) =>
    source.startsWith("mint") ? "the mints" : source,
  );
  for (const [source, own] of sources) found.push(...goneBack(source, own));
  return found;
}

/** An answer that was asked for after another one had arrived is not older than that. */
function goneBack(source: string, statements: readonly Statement[]): readonly string[] {
  const found: string[] = [];
  const byEnd = statements.toSorted((a, b) => a.at - b.at);
  let next = 0;
  let newest = 0;
  for (const { askedAt, seq } of statements.toSorted((a, b) => a.askedAt - b.askedAt)) {
    for (let end = byEnd[next]; end !== undefined && end.at < askedAt; end = byEnd[next]) {
      newest = Math.max(newest, end.seq);
      next += 1;
    }
    if (seq < newest) found.push(`law 2: ${source} shows statement ${seq} after ${newest}`);
  }
  return found;
}
