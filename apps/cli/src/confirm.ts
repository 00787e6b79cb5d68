/** Nothing is changed before somebody said yes. */
import { CliFailure, EXIT } from "./failure.ts";
import type { Session } from "./session.ts";

/**
 * Asks, unless `--yes` was given. What will be done has been said before.
 *
 * @throws CliFailure with exit code 3 when nobody is there to be asked, or the answer is no.
 */
export async function confirm(session: Session, { yes }: { yes: boolean }): Promise<void> {
  if (yes) return;
  const { ask } = session.platform;
  if (ask === undefined) {
    throw new CliFailure(
      "Nothing was done: there is no terminal to ask at, and --yes was not given.",
      EXIT.unconfirmed,
    );
  }
  const answer = await ask("Go on? [y/N] ");
  session.assertGoesOn();
  if (!/^y(?:es)?$/i.test(answer.trim()))
    throw new CliFailure("Nothing was done.", EXIT.unconfirmed);
}
