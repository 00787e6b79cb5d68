/** Waits until a step is safe, by the mint's clock and the mint's word. */
import type { KeysView, KeyView } from "@vestibule/contracts/keys-api";
import { CliFailure } from "./failure.ts";
import { short } from "./key-words.ts";
import {
  AWAY_MS_MAX,
  LOOK_EVERY_MS,
  PLAIN_EVERY_MS,
  PLAIN_EVERY_MS_MAX,
  REPAINT_EVERY_MS,
} from "./limits.ts";
import { AwayError } from "./mint-api.ts";
import type { Screen } from "./platform.ts";
import type { Session } from "./session.ts";
import { bar, Progress } from "./terminal/progress.ts";
import { span } from "./terminal/words.ts";

const CELLS_MAX = 20;
const CELLS_MIN = 5;
/** `[` and `]`. */
const BAR_EDGES = 2;

export interface Waiting {
  readonly kid: string;
  /** In the progress: `until it may sign`. */
  readonly what: string;
  /** True: there is nothing left to wait for. */
  readonly isOver: (key: KeyView) => boolean;
  readonly until: (key: KeyView) => number;
}

/**
 * @returns the look that ended it.
 * @throws InterruptedError; CliFailure when the key is gone, or no mint answers for `AWAY_MS_MAX`.
 */
export async function waitForKey(session: Session, waiting: Waiting): Promise<KeysView> {
  const { platform, time } = session;
  const progress = new Progress(platform.err, platform.clock);
  const startedAt = time.now();
  let answeredAt = platform.clock.now();
  try {
    for (;;) {
      const view = await lookOrAway(session);
      const key = view?.keys.find(({ kid }) => kid === waiting.kid);
      if (view !== undefined) {
        answeredAt = platform.clock.now();
        if (key === undefined)
          throw new CliFailure(`The key ${waiting.kid} is not there any more.`);
        if (waiting.isOver(key)) return view;
      } else if (platform.clock.now() - answeredAt > AWAY_MS_MAX) {
        throw new CliFailure(
          `No mint has answered for ${span(AWAY_MS_MAX)}. The same command goes on where this one was.`,
        );
      }
      const until = key === undefined ? undefined : waiting.until(key);
      await show(session, { progress, waiting, until, startedAt });
    }
  } finally {
    progress.clear();
  }
}

async function lookOrAway(session: Session): Promise<KeysView | undefined> {
  session.assertGoesOn();
  try {
    return await session.look();
  } catch (error) {
    if (error instanceof AwayError) return undefined;
    throw error;
  }
}

/** Until the next look: at the moment itself, or in a while. */
async function show(
  session: Session,
  how: { progress: Progress; waiting: Waiting; until: number | undefined; startedAt: number },
): Promise<void> {
  const { platform, time } = session;
  const { progress, waiting, until, startedAt } = how;
  const lookAt = Math.min(until ?? Infinity, time.now() + LOOK_EVERY_MS);
  do {
    const now = time.now();
    const left = until === undefined ? undefined : Math.max(0, until - now);
    const share = until === undefined ? 0 : (now - startedAt) / Math.max(1, until - startedAt);
    const told =
      left === undefined
        ? ["no mint answers; waiting goes on"]
        : [`${span(left)} left`, `until ${session.clockTime(until ?? now)}`];
    const everyMs = Math.min(PLAIN_EVERY_MS_MAX, Math.max(PLAIN_EVERY_MS, (left ?? 0) / 10));
    progress.show(
      line(platform.err, { share, what: `${short(waiting)} ${waiting.what}`, told }),
      everyMs,
    );
    const stepMs = Math.max(50, Math.min(REPAINT_EVERY_MS, lookAt - now));
    await session.sleep(stepMs);
  } while (time.now() < lookAt);
}

/** The bar gives way to the words; where even that is too little, the end time is left away and never cut. */
function line(
  screen: Pick<Screen, "isTerminal" | "columns" | "unicode">,
  { share, what, told }: { share: number; what: string; told: readonly string[] },
): string {
  const { isTerminal, columns, unicode } = screen;
  const words = ` ${what}: ${told.join(", ")}`;
  const room = isTerminal ? columns - BAR_EDGES - 1 - words.length : CELLS_MAX;
  if (room < CELLS_MIN && told.length > 1)
    return line(screen, { share, what, told: told.slice(0, 1) });
  const cells = Math.max(CELLS_MIN, Math.min(CELLS_MAX, room));
  return `${bar(share, { cells, unicode })}${words}`;
}
