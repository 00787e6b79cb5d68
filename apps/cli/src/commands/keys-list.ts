import { buildCommand } from "@stricli/core";
import type { KeysView, KeyView } from "@vestibule/contracts/keys-api";
import { KEY_USES, type KeyUse } from "@vestibule/keys/public-key";
import { action, COMMON_FLAGS } from "../action.ts";
import { isPublished, ofUse, short, SIGNS } from "../key-words.ts";
import { KEYS_OVER_SHOWN_MAX } from "../limits.ts";
import { type CommonFlags, Session } from "../session.ts";
import { columns, type Style, wrap } from "../terminal/style.ts";
import { timeline } from "../terminal/timeline.ts";
import { plural, span } from "../terminal/words.ts";

const COLOURS: Readonly<Record<KeyView["state"], Style>> = {
  staged: "cyan",
  signing: "green",
  retiring: "yellow",
  retired: "dim",
  revoked: "red",
};

export const keysList = buildCommand({
  docs: {
    brief: "Show every key, and from when its next step is safe",
    fullDescription: [
      "Changes nothing. With --json it prints what the mint says: serverTime, seq, policies, frozenBy, keys.",
      "",
      "EXAMPLES",
      "  vestibule keys list",
      "  vestibule keys list --json | jq '.keys[] | select(.state == \"staged\")'",
    ].join("\n"),
  },
  parameters: { flags: COMMON_FLAGS },
  func: action(async ({ platform }, flags: CommonFlags) => {
    const session = new Session(platform, flags);
    const view = await session.look();
    if (flags.json) session.print(view);
    else session.say(...listing(session, view));
  }),
});

/** What is shown of all keys: no line is longer than the screen. */
export function listing(session: Session, view: KeysView): readonly string[] {
  const { paint, human, api, time } = session;
  const width = human.columns;
  return [
    paint("bold", `Keys of ${api.url}`),
    paint("dim", `key set ${view.seq}, ${session.clockTime(view.serverTime)} ${session.zone()}`),
    ...(view.frozenBy.length === 0
      ? []
      : wrap(`The schedule is held back by: ${view.frozenBy.join(", ")}`, width)),
    ...KEY_USES.flatMap((use) => ["", ...group(session, view, use)]),
    "",
    ...timeline(view.keys.filter(isPublished), {
      now: time.now(),
      columns: width,
      unicode: human.unicode,
      paint,
      clockTime: (at) => session.clockTime(at),
    }),
  ];
}

function group(session: Session, view: KeysView, use: KeyUse): readonly string[] {
  const keys = ofUse(view, use);
  const over = keys.filter((key) => !isPublished(key)).toSorted((a, b) => b.since - a.since);
  const shown = [...keys.filter(isPublished), ...over.slice(0, KEYS_OVER_SHOWN_MAX)];
  const left = over.length - KEYS_OVER_SHOWN_MAX;
  const rows = shown.map((key) => [
    `  ${short(key)}`,
    session.paint(COLOURS[key.state], key.state),
    session.moment(key.since),
    nextStep(session, key),
  ]);
  return [
    session.paint("bold", `${use}  `) + session.paint("dim", `signs ${SIGNS[use]}`),
    ...columns(rows),
    ...(left > 0 ? [`  and ${plural(left, "key")} that are over (--json shows them)`] : []),
  ];
}

function nextStep(session: Session, { next, state }: KeyView): string {
  if (next === undefined) return state === "revoked" ? "for good" : "-";
  const ms = next.safeFrom - session.time.now();
  if (next.step === "retire") return ms > 0 ? `ends in ${span(ms)}` : "ends now";
  return next.isSafe || ms <= 0 ? "may sign now" : `may sign in ${span(ms)}`;
}
