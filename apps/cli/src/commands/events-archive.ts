import { buildCommand, type Command } from "@stricli/core";
import type { ArchiveAnswer } from "@vestibule/contracts/archive-api";
import { action, COMMON_FLAGS } from "../action.ts";
import { confirm } from "../confirm.ts";
import type { CliContext } from "../context.ts";
import { CliFailure, EXIT } from "../failure.ts";
import { ARCHIVE_DEADLINE_MS } from "../limits.ts";
import { type CommonFlags, Session } from "../session.ts";
import { Progress } from "../terminal/progress.ts";
import { wrap } from "../terminal/style.ts";
import { figure, plural } from "../terminal/words.ts";
import { CHANGE_FLAGS } from "./change.ts";
import { EVENT } from "./event-argument.ts";

interface Flags extends CommonFlags {
  readonly yes: boolean;
}

export const eventsArchive: Command<CliContext> = buildCommand<Flags, [string?], CliContext>({
  docs: {
    brief: "Archive sales that are over for long: their rows go, their figures stay",
    fullDescription: [
      "All of them, or the one that is named. A sale may be archived 30 days after its end, when its pages need not say",
      "any more that it is over. What stays at the mint is one row of figures and the audit log; the purchase API keeps",
      "orders and spends. For good: the name is never free again. It may be run again, and goes on where it was.",
      "",
      "EXAMPLES",
      "  vestibule events archive",
      "  vestibule events archive spring --yes",
    ].join("\n"),
  },
  parameters: {
    flags: { ...COMMON_FLAGS, yes: CHANGE_FLAGS.yes },
    positional: { kind: "tuple", parameters: [{ ...EVENT, optional: true }] },
  },
  func: action(async ({ platform }, flags: Flags, name?: string) => {
    const session = new Session(platform, flags);
    const due = await dueOf(session, name);
    if (due.length === 0) {
      session.say("No sale is over for 30 days: nothing to do.");
      session.print({ archived: [] });
      return;
    }
    const what = `Archive for good, with all rows but their figures and the audit log: ${due.join(", ")}`;
    session.say(...wrap(what, session.human.columns));
    await confirm(session, flags);
    const archived: ArchiveAnswer[] = [];
    for (const event of due) {
      const answer = await archive(session, event);
      archived.push(answer);
      const { issued, claimed, lapsed } = answer.figures;
      session.say(
        `${event} is archived: ${plural(answer.deleted, "row")} deleted; ${plural(issued, "number")} given, ${plural(claimed, "turn")} taken up, ${figure(lapsed)} not.`,
      );
    }
    session.print({ archived });
  }),
});

/** @throws CliFailure for a name that is not due yet. */
async function dueOf(session: Session, name: string | undefined): Promise<readonly string[]> {
  const events = await session.api.events();
  await session.look();
  const now = session.time.now();
  const isDue = ({ archivableAt = Infinity }: { archivableAt?: number | undefined }): boolean =>
    archivableAt <= now;
  if (name === undefined) return events.filter(isDue).map(({ event }) => event);
  const named = events.find(({ event }) => event === name);
  // Not in the list any more: its rows may not all have gone.
  if (named === undefined || isDue(named)) return [name];
  if (named.archivableAt === undefined)
    throw new CliFailure(`${name} is a rehearsal, which is used again: it is not archived.`);
  throw new CliFailure(
    `Not yet: ${name} may be archived from ${session.moment(named.archivableAt)} on.`,
    EXIT.notYet,
    { archivableAt: named.archivableAt },
  );
}

async function archive(session: Session, event: string): Promise<ArchiveAnswer> {
  const progress = new Progress(session.platform.err, session.platform.clock);
  let deleted = 0;
  for (;;) {
    session.assertGoesOn();
    const answer = await session.api.archive(event, ARCHIVE_DEADLINE_MS);
    deleted += answer.deleted;
    if (answer.done) {
      progress.clear();
      return { ...answer, deleted };
    }
    progress.show(`${event}: ${plural(deleted, "row")} deleted so far`);
  }
}
