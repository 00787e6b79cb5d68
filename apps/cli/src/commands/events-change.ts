import { buildCommand, type Command } from "@stricli/core";
import { action, COMMON_FLAGS } from "../action.ts";
import { confirm } from "../confirm.ts";
import type { CliContext } from "../context.ts";
import { CliFailure } from "../failure.ts";
import { changeOf, SALE_FLAGS, type SaleFlags } from "../sale/change-flags.ts";
import { previewLines } from "../sale/preview-lines.ts";
import { type CommonFlags, Session } from "../session.ts";
import { CHANGE_FLAGS } from "./change.ts";
import { EVENT } from "./event-argument.ts";
import { noEvent, told } from "./told.ts";

interface Flags extends CommonFlags, SaleFlags {
  readonly yes: boolean;
}

export const eventsChange: Command<CliContext> = buildCommand<Flags, [string], CliContext>({
  docs: {
    brief: "Change a sale's speed, bounds or end: shows what comes of it, then asks",
    fullDescription: [
      "Asks the mint for a preview first: from when the change counts, how many turns open in the minutes ahead without",
      "and with it, when the last one who waits now is in, who is left out, how many can buy at once. Then it asks, and",
      "changes what it has shown, unless somebody else has changed the event meanwhile. What is committed stays.",
      "",
      "Times are 2026-06-01T10:00Z, with any offset, or from now on: +90s, +10m, +2h.",
      "",
      "EXAMPLES",
      "  vestibule events change spring --rate 300",
      "  vestibule events change spring --rate 60 --ramp +5m=60 --step +15m=600",
      "  vestibule events change spring --end-plan",
      "  vestibule events change spring --budget 200 --overdrive 200",
      "  vestibule events change spring --presence confirm",
      '  vestibule events change spring --bypass "$(cat rules.json)"',
      "  vestibule events change spring --max-admissions none --ends-at 2026-06-01T18:00+02:00 --yes",
    ].join("\n"),
  },
  parameters: {
    flags: { ...COMMON_FLAGS, yes: CHANGE_FLAGS.yes, ...SALE_FLAGS },
    positional: { kind: "tuple", parameters: [EVENT] },
  },
  func: action(async ({ platform }, flags: Flags, event: string) => {
    const session = new Session(platform, flags);
    changeOf(flags, 0);
    const before = await session.api.event(event);
    if (before === undefined) throw new CliFailure(noEvent(event));
    await session.look();
    const change = changeOf(flags, session.time.now());
    const preview = await session.api.preview(before, change);
    if (preview.changes.length === 0) {
      session.say(`${event} is so already: nothing to do.`);
      session.print({ changed: false, preview });
      return;
    }
    session.say(...previewLines(session, preview));
    await confirm(session, flags);
    const { version } = await told(event, session.api.changeEvent(preview, change));
    session.say(`${event} is changed.`);
    session.print({ changed: true, version, preview });
  }),
});
