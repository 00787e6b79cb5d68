import { CliFailure } from "./failure.ts";
import { AWAY_MS_MAX, AWAY_RETRY_MS, AWAY_RETRY_MS_MAX } from "./limits.ts";
import { AwayError } from "./mint-api.ts";
import type { Session } from "./session.ts";
import type { Progress } from "./terminal/progress.ts";

/**
 * Asks, ever more seldom, until a mint answers: one that fails over is back in seconds.
 *
 * @param ask may be asked again, however it ended.
 * @throws InterruptedError; CliFailure of its own, or when no mint answers for `AWAY_MS_MAX`.
 */
export async function untilAnswered<Answer>(
  session: Session,
  progress: Progress,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const { clock } = session.platform;
  const startedAt = clock.now();
  for (let waitMs = AWAY_RETRY_MS; ; waitMs = Math.min(2 * waitMs, AWAY_RETRY_MS_MAX)) {
    session.assertGoesOn();
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AwayError)) throw error;
      if (clock.now() - startedAt > AWAY_MS_MAX)
        throw new CliFailure(`${error.message}. The same command goes on where this one was.`);
      progress.show("no mint answers; waiting goes on");
    }
    await session.sleep(waitMs);
  }
}
