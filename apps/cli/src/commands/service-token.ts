import { buildCommand, type Command } from "@stricli/core";
import { isSlug } from "@vestibule/contracts/slug";
import { action, COMMON_FLAGS } from "../action.ts";
import type { CliContext } from "../context.ts";
import { CliFailure } from "../failure.ts";
import { type Moment, momentOf } from "../sale/change-flags.ts";
import { type CommonFlags, Session } from "../session.ts";
import { wrap } from "../terminal/style.ts";
import { plural } from "../terminal/words.ts";
import { EVENT } from "./event-argument.ts";

interface Flags extends CommonFlags {
  readonly until?: Moment | undefined;
}

const NAME = {
  brief: "The service, as the event's bypass rules name it",
  placeholder: "name",
  parse: nameOf,
} as const;

export const serviceToken: Command<CliContext> = buildCommand<Flags, [string, string], CliContext>({
  docs: {
    brief:
      "Make a token for a service that passes without a place: payment callbacks, health checks",
    fullDescription: [
      "Prints the token, and nothing else, on stdout. It passes where a bypass rule of the event names the service, as the",
      "header Vestibule-Service or, for callers that can be told an address only, as ?vestibule-service=TOKEN. IT IS SECRET:",
      "whoever has it is the service. The mint keeps it nowhere, so that it is said once; the audit log has its name.",
      "",
      "It ends with the event and an hour more, or before that with --until. To end it at once, take the name out of the",
      "rules: vestibule events change EVENT --bypass. Run again it makes another token, and both are good.",
      "",
      "EXAMPLES",
      "  vestibule service-token spring payments",
      "  vestibule service-token spring health --until +2h",
    ].join("\n"),
  },
  parameters: {
    flags: {
      ...COMMON_FLAGS,
      until: {
        kind: "parsed",
        parse: momentOf,
        brief: "Its end: 2026-06-01T10:00Z, or from now on: +90s, +10m, +2h",
        placeholder: "time",
        optional: true,
      },
    },
    positional: { kind: "tuple", parameters: [EVENT, NAME] },
  },
  func: action(async ({ platform }, flags: Flags, event: string, name: string) => {
    const session = new Session(platform, flags);
    const made = await session.api.serviceToken(event, { name, ...endOf(flags.until) });
    if (made === undefined)
      throw new CliFailure(
        `There is no event ${event} at this mint, or it is of an older release.`,
      );
    await session.look();
    const rules =
      made.rules.length === 0
        ? `No bypass rule of ${event} names ${name} yet: it opens nothing.`
        : `It opens what ${plural(made.rules.length, "rule")} of ${event} ${made.rules.length === 1 ? "names" : "name"}.`;
    const told = `The token of ${name}, good until ${session.moment(made.expiresAt)}, IS SECRET: whoever has it is the service. ${rules}`;
    for (const line of wrap(told, platform.err.columns)) platform.err.write(`${line}\n`);
    if (!flags.json) platform.out.write(`${made.token}\n`);
    session.print(made);
  }),
});

function endOf(until: Moment | undefined): { expiresAt?: number; lifetimeSeconds?: number } {
  if (until === undefined) return {};
  return "at" in until
    ? { expiresAt: until.at }
    : { lifetimeSeconds: Math.floor(until.inMs / 1_000) };
}

/** @throws Error for the library, which says of which argument. */
function nameOf(text: string): string {
  if (isSlug(text)) return text;
  throw new Error("the name of a service: small letters, digits and -");
}
