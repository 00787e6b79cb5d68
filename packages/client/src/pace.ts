/** How soon the page does what. */

/** A fault here is looked at so often, about; whoever was in before goes back within this after its end. */
export const FAULT_LOOK_MS = 10_000;

/** Closer than this to its opening a slot is claimed at once. */
export const CLAIM_NEAR_MS = 8_000;
/** After the line opens, joins come in over this time; turns that open together, over that. */
export const OPENING_SPREAD_MS = 1_500;
export const ENTER_SPREAD_MS = 200;
/** Between tries at a grant: this, doubled with every failure in a row, and spread by half of it. */
export const RETRY_MS = 1_500;
export const RETRY_DOUBLINGS_MAX = 5;
/** When the event is over for joins: how soon to ask whether it still is. */
export const OVER_RETRY_MS = 30_000;
/** Whoever joins and may be next is told by the next statement: a few quick looks, then as everybody. */
export const NEWCOMER_LOOKS = 8;
export const NEWCOMER_LOOK_MS = 250;
export const NEWCOMER_ETA_MS = 2_000;
/** The one who is refused first, because it is sold out, looks soon. */
export const REFUSED_LOOK_MS = 2_000;
/** Without a turn to miss: a look every half minute or so, as if it were this far away. */
export const SHUT_SOONEST_MS = 300_000;
/** Whoever finds that the line has passed asks at once: within this, for others may find it with them. */
export const PASSED_SPREAD_MS = 300;
/** Two clocks of one device that part by more than this: one of them was changed, or slept. */
export const CLOCK_JUMP_MS = 2_000;
/** The timers of a page that was hidden for long may fire once in this time only (Chromium: one wake a minute after five minutes). */
export const HIDDEN_WAKE_MS = 60_000;
/** Words that a screen reader speaks change with the state, and otherwise not more often than this. */
export const SPEAK_MS = 60_000;
