/** What becomes of a change of a sale, in words. */
import { CliFailure } from "../failure.ts";
import { AwayError, RefusedError } from "../mint-api.ts";

/** @throws CliFailure in words, where the mint refuses for a reason that is known, or does not answer. */
export async function told<Answer>(event: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AwayError)
      throw new CliFailure(
        `${error.message}\nWhether it was done is not known: vestibule events show ${event} tells.`,
      );
    if (!(error instanceof RefusedError)) throw error;
    const { code } = error;
    const words = wordsOf(event).get(code);
    throw words === undefined ? error : new CliFailure(words, undefined, { code });
  }
}

export function noEvent(event: string): string {
  return `There is no event ${event} at this mint.`;
}

function wordsOf(event: string): ReadonlyMap<string, string> {
  return new Map([
    ["event-not-found", noEvent(event)],
    ["event-ended", `Nothing was changed: ${event} is over.`],
    [
      "version-mismatch",
      "Nothing was changed: somebody else changed the event meanwhile. Run it again for another look.",
    ],
  ]);
}
