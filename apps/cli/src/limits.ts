/** Bounds of the command line, with their units in their names. */
import {
  CLAIM_WINDOW_SECONDS_MIN,
  HORIZON_SECONDS_MIN,
  LIFETIME_SECONDS_MIN,
  PREMINT_BATCH_MAX,
  TOKEN_CHARS_MAX,
} from "@vestibule/contracts/limits";
import { assert } from "@vestibule/kernel/assert";

/** One question to a mint or a location, head and body. */
export const REQUEST_DEADLINE_MS = 10_000;
/** Of an answer: key sets, lists and statements are far below it. */
export const ANSWER_BYTES_MAX = 3 * 1_048_576;
export const EDGES_MAX = 16;

/** While it waits for a time: asks the mint so often whether that is still the time. */
export const LOOK_EVERY_MS = 5_000;
/** Nobody answers for so long while it waits: it gives up. Longer than any failover. */
export const AWAY_MS_MAX = 120_000;
/** Progress where there is no terminal: a line so often; more seldom while there is much left. */
export const PLAIN_EVERY_MS = 15_000;
export const PLAIN_EVERY_MS_MAX = 600_000;
export const REPAINT_EVERY_MS = 500;

/** A call that deletes many rows of an archived event. */
export const ARCHIVE_DEADLINE_MS = 60_000;
/** People of one list. */
export const PEOPLE_MAX = 1_000_000;
export const PERSON_ID_CHARS_MAX = 200;
/** Of a bad list, one by one. */
export const MISTAKES_TOLD_MAX = 20;
/** A mint that is away is asked again so soon at first, each time later, and at last so late. */
export const AWAY_RETRY_MS = 500;
export const AWAY_RETRY_MS_MAX = 5_000;
/** Of a file with places or admissions. */
export const LINE_BYTES_MAX = 65_536;
/** Requests for admissions under way: one is signed while the others are recorded and read. */
export const CLAIM_REQUESTS_AT_ONCE = 3;
/** How often the drip is looked at, always: after a hold, slots open as soon as they are committed. */
export const DRIP_EVERY_MS = 1_000;
/** A place that the line has passed, or whose claim was refused, is claimed again so soon. */
export const CLAIM_AGAIN_MS = 5_000;

/** A hold lasts until the next full second: a resume before that is asked for again so soon, and so often in all. */
export const RESUME_RETRY_MS = 1_000;
export const RESUME_TRIES_MAX = 3;

/** Retired and revoked keys of each use that `keys list` shows. */
export const KEYS_OVER_SHOWN_MAX = 3;
export const KID_CHARS_SHOWN = 8;
/** A shorter beginning of a kid names no key. */
export const KID_CHARS_MIN = 4;
export const COLUMNS_DEFAULT = 80;
export const COLUMNS_MIN = 72;
/** Completing kids asks the mint: a shell waits no longer. */
export const COMPLETION_DEADLINE_MS = 1_000;

export const DRILL_TIMEOUT_SECONDS_DEFAULT = 900;
export const DRILL_TIMEOUT_SECONDS_MIN = 60;
export const DRILL_TIMEOUT_SECONDS_MAX = 7_200;
/** Verified before anything is changed: whatever is wrong then is no matter of the rotation. */
export const DRILL_BASELINE_MS = 4_000;
export const DRILL_BASELINE_TOKENS_MIN = 6;
/** Slots of the rehearsal are as short as they may be: their ends are part of the drill. */
export const DRILL_LIFETIME_SECONDS = 15;
export const DRILL_HORIZON_SECONDS: number = HORIZON_SECONDS_MIN;
/** Nobody waits in that line, and whoever else finds it while it is open costs little. */
export const DRILL_RATE_PER_MINUTE = 6_000;
/** A mint that hangs keeps nobody at the end of a drill. */
export const CLOSE_DEADLINE_MS = 3_000;
/** The rehearsal ends so long after the drill's last moment. */
export const DRILL_EVENT_SLACK_SECONDS = 120;
export const DRILL_EVENTS_TRIED_MAX = 9;
/** A fan of the drill comes so often. */
export const FAN_EVERY_MS = 500;
/** Joins and claims under way at once. */
export const FANS_AT_ONCE_MAX = 8;
export const FAN_TRIES_MAX = 60;
/** A fan that is told to come back comes back so soon at the earliest. */
export const FAN_RETRY_MS_MIN = 200;
export const FAN_RETRY_MS_MAX = 5_000;
/** Every verifier is asked so often. */
export const ROUND_EVERY_MS = 500;
/** While it only waits until the next key may sign, fans and rounds are fewer. */
export const WAITING_EVERY_MS = 5_000;
/** For so long before, they are as many as they will be. */
export const WAITING_ENDS_MS = 10_000;
/** Of all that still say something, so many a round: the oldest, the newest, and others in turn. */
export const SHOWN_TO_VERIFIER_MAX = 8;
/** Each is a request. */
export const SHOWN_TO_LOCATION_MAX = 6;
/** By whole seconds and a clock that is only estimated: closer to a boundary than this nothing is judged. */
export const BOUNDARY_MS = 1_500;
/** A new rehearsal is in force at every location within 15 s; a location that was left alone asks when it is asked. */
export const LOCATION_READY_MS_MAX = 30_000;
/** Locations report twice a minute: whoever has not told of the new set by then is reported as such. */
export const REPORTS_WAIT_MS_MAX = 45_000;
/** Refusals that are told one by one. */
export const REFUSALS_TOLD_MAX = 20;

assert(DRILL_LIFETIME_SECONDS >= LIFETIME_SECONDS_MIN, "the rehearsal's slots are allowed");
assert(
  PREMINT_BATCH_MAX * (TOKEN_CHARS_MAX + 128) + 1_024 <= ANSWER_BYTES_MAX,
  "a batch's tickets, or admissions with their times, fit an answer",
);
assert(
  DRIP_EVERY_MS * 2 < CLAIM_WINDOW_SECONDS_MIN * 1_000,
  "no claim window passes between two looks",
);
assert(
  DRILL_TIMEOUT_SECONDS_MIN * 1_000 >
    DRILL_BASELINE_MS + DRILL_LIFETIME_SECONDS * 1_000 + BOUNDARY_MS,
  "the shortest drill sees an admission end",
);
