/** What a change of rate, plan or budget makes of a line's credit. */
import type { EpochMs } from "@vestibule/kernel/units";
import type { DripPolicy, LineState } from "./line-state.ts";
import { MICRO } from "./pace.ts";

/**
 * The line as the new policy goes on with it. Where there is a budget, time before the change earns nothing of it
 * any more: by which rate it would is over. A lower budget takes what it lost from the credit, so that from now on
 * no more opens beyond the rate than the new one and what lapsed. Without a budget on either side nothing changes.
 */
export function changePolicy(
  line: LineState,
  change: { readonly before: DripPolicy; readonly after: DripPolicy; readonly now: EpochMs },
): LineState {
  const { before, after, now } = change;
  const lost = Math.max(0, before.approximationBudget - after.approximationBudget) * MICRO;
  if (Math.max(before.approximationBudget, after.approximationBudget) === 0) return line;
  return {
    ...line,
    // Before its first slot a line has earned all that it ever can.
    frontier: line.frontier === 0 ? line.frontier : (Math.max(line.frontier, now) as EpochMs),
    giveBackMicro: Math.max(0, line.giveBackMicro - lost),
  };
}
