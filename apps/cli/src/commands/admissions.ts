import { buildCommand } from "@stricli/core";
import { action, COMMON_FLAGS } from "../action.ts";
import { CliFailure, EXIT } from "../failure.ts";
import { collectAdmissions } from "../premint/collect-admissions.ts";
import { readPlaces } from "../premint/places.ts";
import { type CommonFlags, Session } from "../session.ts";
import { wrap } from "../terminal/style.ts";
import { figure, oneLine, plural } from "../terminal/words.ts";
import { outOf } from "./out-argument.ts";

interface Flags extends CommonFlags {
  readonly in: string;
  readonly out: string;
  readonly confirmed: boolean;
  readonly wait: boolean;
}

export const admissions = buildCommand({
  docs: {
    brief: "Collect the admissions of places that were given beforehand",
    fullDescription: [
      "Reads the places that vestibule premint wrote, follows the drip, and claims for each of them as soon as their",
      "slot is committed. Writes one line for each: id, event, number, state, opensAt, closesAt, admission. state is",
      "admitted, missed (nobody claimed it in time) or ended (the event was over first). When a hold has cut a slot, its",
      "person gets a later line with their new one: THE LAST LINE OF A NUMBER COUNTS. It stays until the last slot has",
      "opened. Whoever is admitted so counts as having come: their slot is never given to others. THE OUTPUT IS SECRET.",
      "",
      "A run that was interrupted, by whatever, goes on when the same command is given again: nobody is admitted twice,",
      "and nobody is left out.",
      "",
      "EXAMPLES",
      "  vestibule admissions --in places.jsonl --out admissions.jsonl",
      "  vestibule admissions --in places.jsonl --out admissions.csv --no-wait",
    ].join("\n"),
  },
  parameters: {
    flags: {
      ...COMMON_FLAGS,
      in: { kind: "parsed", parse: outOf, brief: "What premint wrote", placeholder: "file" },
      out: {
        kind: "parsed",
        parse: outOf,
        brief: "Where the admissions go: *.jsonl or *.csv",
        placeholder: "file",
      },
      confirmed: {
        kind: "boolean",
        brief: "Say that everybody is there, where the event asks for it",
        default: false,
        withNegated: false,
      },
      wait: {
        kind: "boolean",
        brief:
          "Wait for the slots that are not committed yet; --no-wait: exit code 4 when there are any",
        default: true,
      },
    },
  },
  func: action(async ({ platform }, flags: Flags) => {
    const { out, confirmed, wait } = flags;
    const session = new Session(platform, flags);
    const places = readPlaces(flags.in, platform.secretFiles.lines(flags.in));
    const { event } = places;
    const warning = `${oneLine(out)} IS SECRET: with the visitors' secrets of ${oneLine(flags.in)} beside it, whoever reads it can buy in these people's place. Hand each person theirs, over a way that only they read, and delete it.`;
    for (const line of wrap(warning, platform.err.columns)) platform.err.write(`${line}\n`);
    const done = await collectAdmissions(session, { places, out, confirmed, wait });
    const { admitted, waiting, before } = done;
    const total = places.ids.length;
    session.say(
      `${plural(admitted, "admission")} of ${event} in ${oneLine(out)}${before === 0 ? "" : `, ${figure(before)} of them from before`}.`,
    );
    if (done.missed > 0)
      session.say(`${plural(done.missed, "person", "people")} missed the claim window.`);
    if (done.ended > 0)
      session.say(`For ${plural(done.ended, "person", "people")} the event ended first.`);
    const result = { event, out, places: total, ...done };
    if (waiting > 0)
      throw new CliFailure(
        `${figure(waiting)} of ${plural(total, "place")} have no slot yet. The same command goes on.`,
        EXIT.notYet,
        result,
      );
    session.print(result);
  }),
});
