import { buildCommand } from "@stricli/core";
import type { KeysView } from "@vestibule/contracts/keys-api";
import { KEY_USES, type KeyUse } from "@vestibule/keys/public-key";
import { action, COMMON_FLAGS } from "../action.ts";
import { confirm } from "../confirm.ts";
import { CliFailure, EXIT } from "../failure.ts";
import { short, SIGNS, staged } from "../key-words.ts";
import { RefusedError } from "../mint-api.ts";
import { type CommonFlags, Session } from "../session.ts";
import { factLines } from "../terminal/style.ts";
import { span } from "../terminal/words.ts";
import { CHANGE_FLAGS, type ChangeFlags, placesOf } from "./change.ts";

interface Flags extends CommonFlags, ChangeFlags {
  readonly use: KeyUse;
  readonly another: boolean;
}

export const keysStage = buildCommand({
  docs: {
    brief: "Make one more key and publish it, without letting it sign",
    fullDescription: [
      "Seldom needed: the mint keeps a successor staged by itself. May be run again: with a staged key",
      "of this use there is nothing to do, unless --another asks for one more.",
      "",
      "EXAMPLES",
      "  vestibule keys stage --use admission",
      "  vestibule keys stage --use line --another --yes --json",
    ].join("\n"),
  },
  parameters: {
    flags: {
      ...COMMON_FLAGS,
      ...CHANGE_FLAGS,
      use: { kind: "enum", values: KEY_USES, brief: "What it will sign" },
      another: {
        kind: "boolean",
        brief: "Also when one is staged already",
        default: false,
        withNegated: false,
      },
    },
  },
  func: action(async ({ platform }, flags: Flags) => {
    const session = new Session(platform, flags);
    const view = await session.look();
    const [first] = staged(view, flags.use);
    if (first !== undefined && !flags.another) {
      const ago = span(session.time.now() - first.since);
      session.say(
        `A key of use ${flags.use} is staged already: ${short(first)}, ${ago} ago. Nothing to do (--another makes one more).`,
      );
      session.print({ changed: false, seq: view.seq, key: first });
      return;
    }
    announce(session, view, flags.use);
    await confirm(session, flags);
    const outcome = await stageOn(session, view, flags);
    session.say(`${short(outcome.key)} is staged. ${fromWhen(session, view, flags.use)}`);
    session.print(outcome);
  }),
});

/** On the key set that was shown, and on no other: a lost answer never makes two keys. */
export async function stageOn(
  session: Session,
  { seq }: KeysView,
  { use, reason }: { use: KeyUse; reason?: string | undefined },
): ReturnType<Session["api"]["stage"]> {
  try {
    return await session.api.stage(use, seq, reason);
  } catch (error) {
    if (!(error instanceof RefusedError) || error.code !== "version-mismatch") throw error;
    throw new CliFailure(
      "The keys were changed in the meantime, or this is a repetition: nothing was done now. Run it again to see what is there.",
      EXIT.failed,
      { code: error.code },
    );
  }
}

function announce(session: Session, view: KeysView, use: KeyUse): void {
  const { taken, max } = placesOf(view, use);
  const maySign = span(view.policies[use].stagedSeconds * 1_000);
  session.say(
    session.paint("bold", `Stage a key that will sign ${SIGNS[use]}`),
    ...factLines(
      [
        ["new key", "nothing -> staged: published, does not sign"],
        ["affected", "nobody"],
        ["safe", `at any time; it may sign ${maySign} later`],
        ["places", `${taken} of ${max} published keys of this use are taken`],
        ["run again", "safe: it finds the staged key and does nothing"],
      ],
      session.human.columns,
    ),
  );
}

function fromWhen(session: Session, view: KeysView, use: KeyUse): string {
  const at = session.time.now() + view.policies[use].stagedSeconds * 1_000;
  return `It may sign from about ${session.moment(at)}.`;
}
