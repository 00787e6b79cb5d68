import { buildCommand } from "@stricli/core";
import { action, COMMON_FLAGS } from "../action.ts";
import { CliFailure } from "../failure.ts";
import { readPeople } from "../premint/people.ts";
import { premintAll } from "../premint/premint-all.ts";
import { type CommonFlags, Session } from "../session.ts";
import { wrap } from "../terminal/style.ts";
import { figure, oneLine, plural } from "../terminal/words.ts";
import { eventOf } from "./event-argument.ts";
import { outOf } from "./out-argument.ts";

interface Flags extends CommonFlags {
  readonly event: string;
  readonly in: string;
  readonly out: string;
}

export const premint = buildCommand({
  docs: {
    brief: "Give places beforehand to the people of a list",
    fullDescription: [
      "For a sale where it is known beforehand who may come. Reads a CSV file whose first line names its columns: id,",
      "the organizer's own name for each person, and where the shop or its app keeps the visitors' secrets, sub, the",
      "SHA-256 of each in base64url. Writes one line for each person: id, event, number, visitor, ticket, batch. Without sub",
      "the visitors' secrets are made here, and THE OUTPUT IS SECRET: whoever reads it can take the places in it. It is",
      "readable by its owner only. Numbers are in the order of the list, and come from the counter that everybody",
      "joins by: whoever is on the list before the sale opens is in front.",
      "",
      "A run that was interrupted, by whatever, goes on when the same command is given again: nobody gets two numbers,",
      "and nobody is left out. Until it is done, a file named as the output with .run behind keeps what that needs; it is",
      "as secret. A bad list is refused whole, with every bad line.",
      "",
      "EXAMPLES",
      "  vestibule premint --event spring --in people.csv --out places.jsonl",
      "  vestibule premint --event spring --in people.csv --out places.csv",
    ].join("\n"),
  },
  parameters: {
    flags: {
      ...COMMON_FLAGS,
      event: { kind: "parsed", parse: eventOf, brief: "Whose places", placeholder: "event" },
      in: { kind: "parsed", parse: String, brief: "The list, as CSV", placeholder: "file" },
      out: {
        kind: "parsed",
        parse: outOf,
        brief: "Where the places go: *.jsonl or *.csv",
        placeholder: "file",
      },
    },
  },
  func: action(async ({ platform }, flags: Flags) => {
    const { event, out } = flags;
    const session = new Session(platform, flags);
    const { people, unused } = readPeople(listOf(session, flags.in), flags.in);
    for (const name of unused)
      platform.err.write(`The column "${oneLine(name, 40)}" means nothing here.\n`);
    const done = await premintAll(session, { event, people, out });
    session.say(
      `${plural(people.length, "place")} of ${event} in ${oneLine(out)}${done.before === 0 ? "" : `, ${figure(done.before)} of them from before`}.`,
    );
    const isSecret = people.some(({ sub }) => sub === undefined);
    if (isSecret) {
      const warning = `${oneLine(out)} IS SECRET: it holds each visitor's secret beside their ticket, and whoever reads it can take these places. Hand each person theirs, over a way that only they read, and delete it.`;
      for (const line of wrap(warning, platform.err.columns)) platform.err.write(`${line}\n`);
    }
    session.print({ event, out, places: people.length, before: done.before, isSecret });
  }),
});

function listOf({ platform }: Session, path: string): string {
  try {
    return platform.readFile(path);
  } catch {
    throw new CliFailure(`${oneLine(path)} cannot be read.`);
  }
}
