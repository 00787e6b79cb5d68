import { buildCommand } from "@stricli/core";
import type { KeyOutcomeView, KeysView, KeyView } from "@vestibule/contracts/keys-api";
import { KEY_USES, type KeyUse } from "@vestibule/keys/public-key";
import { action, COMMON_FLAGS } from "../action.ts";
import { confirm } from "../confirm.ts";
import { InterruptedError } from "../failure.ts";
import { isPublished, ofUse, short, signing, SIGNS, staged } from "../key-words.ts";
import { AWAY_MS_MAX, REPAINT_EVERY_MS } from "../limits.ts";
import { AwayError } from "../mint-api.ts";
import { type CommonFlags, Session } from "../session.ts";
import { factLines, wrap } from "../terminal/style.ts";
import { span } from "../terminal/words.ts";
import { waitForKey } from "../wait-safe.ts";
import { CHANGE_FLAGS, type ChangeFlags } from "./change.ts";
import { stageOn } from "./keys-stage.ts";

interface Flags extends CommonFlags, ChangeFlags {
  readonly use: KeyUse;
  readonly until: "signing" | "retired";
  readonly another: boolean;
}

export const keysRotate = buildCommand({
  docs: {
    brief: "Take every step of a rotation, waiting where it must",
    fullDescription: [
      "Stages a key when none is staged, waits until it is known everywhere, and lets it sign. The key before",
      "retires by itself; --until retired waits for that too. Ctrl-C at any moment: the same command goes on",
      "where it was, since all state is the mint's. With --until retired it goes on with the rotation whose overlap",
      "still lasts, unless --another begins the next one.",
      "",
      "EXAMPLES",
      "  vestibule keys rotate",
      "  vestibule keys rotate --use line --yes --reason 'planned, ticket 4711'",
      "  vestibule keys rotate --until retired --yes --json",
    ].join("\n"),
  },
  parameters: {
    flags: {
      ...COMMON_FLAGS,
      ...CHANGE_FLAGS,
      use: {
        kind: "enum",
        values: KEY_USES,
        brief: "Which key",
        default: "admission",
      },
      until: {
        kind: "enum",
        values: ["signing", "retired"],
        brief: "Ends when the new key signs, or when the old one verifies no more",
        default: "signing",
      },
      another: {
        kind: "boolean",
        brief: "With --until retired: not the rotation whose overlap still lasts, but the next",
        default: false,
        withNegated: false,
      },
    },
  },
  func: action(async ({ platform }, flags: Flags) => {
    const session = new Session(platform, flags);
    const view = await session.look();
    const done = underWay(view, flags);
    if (done === undefined) announce(session, view, flags);
    else session.say(...sayUnderWay(session, done, flags));
    if (done === undefined) await confirm(session, flags);
    try {
      const { key, changed } = done ?? (await rotate(session, view, flags));
      const last = flags.until === "retired" ? await untilRetired(session, flags) : undefined;
      const { seq, keys } = last ?? (await session.look());
      session.print({ changed, seq, key: keys.find(({ kid }) => kid === key.kid) ?? key });
    } catch (error) {
      if (error instanceof InterruptedError) throw await interrupted(session, flags);
      throw error;
    }
  }),
});

interface Rotated {
  readonly key: KeyView;
  readonly changed: boolean;
}

/** The rotation whose overlap still lasts, where that is waited for: whoever was interrupted goes on with that one. */
function underWay(view: KeysView, { use, until, another }: Flags): Rotated | undefined {
  const key = signing(view, use);
  if (key === undefined || until !== "retired" || another) return undefined;
  const overlap = ofUse(view, use).some(
    ({ state, since }) => state === "retiring" && since === key.since,
  );
  return overlap ? { key, changed: false } : undefined;
}

function sayUnderWay(session: Session, { key }: Rotated, { use }: Flags): readonly string[] {
  const ago = span(session.time.now() - key.since);
  return wrap(
    `${short(key)} signs ${SIGNS[use]} since ${ago} ago, and the overlap of that rotation lasts (--another begins the next one).`,
    session.human.columns,
  );
}

function announce(session: Session, view: KeysView, { use, until }: Flags): void {
  const [next] = staged(view, use);
  const old = signing(view, use);
  const { stagedSeconds, retiringSeconds } = view.policies[use];
  const safeFrom = next?.next?.safeFrom ?? session.time.now() + stagedSeconds * 1_000;
  const isSafe = next?.next?.isSafe === true;
  const steps = [
    ...(next === undefined ? ["a new key: nothing -> staged"] : []),
    ...(isSafe ? [] : [`wait until every location knows it, about ${session.moment(safeFrom)}`]),
    `${next === undefined ? "that key" : short(next)}: staged -> signing`,
    ...(old === undefined ? [] : [`${short(old)}: signing -> retiring, verifies only`]),
    ...(until === "retired"
      ? [`wait until its overlap ends, ${span(retiringSeconds * 1_000)} or more`]
      : [`its overlap ends by itself, after ${span(retiringSeconds * 1_000)} or more`]),
  ];
  session.say(
    session.paint("bold", `Rotate the key that signs ${SIGNS[use]}`),
    ...factLines(
      [
        ...steps.map((step, index) => [`step ${index + 1}`, step] as const),
        ["affected", "nobody"],
        ["run again", "safe: it goes on where it was"],
        ...(view.frozenBy.length === 0
          ? []
          : [["schedule", `held back by ${view.frozenBy.join(", ")}; this is by hand`] as const]),
      ],
      session.human.columns,
    ),
  );
}

async function rotate(session: Session, first: KeysView, flags: Flags): Promise<Rotated> {
  const { use, reason = "vestibule keys rotate" } = flags;
  let [next] = staged(first, use);
  if (next === undefined) {
    next = (await stageOn(session, first, { use, reason })).key;
    session.say(`${short(next)} is staged.`);
  }
  const { kid } = next;
  const view = await waitForKey(session, {
    kid,
    what: "until it may sign",
    isOver: (key) => key.next?.isSafe !== false,
    until: (key) => key.next?.safeFrom ?? 0,
  });
  const now = view.keys.find((key) => key.kid === kid);
  if (now?.state === "signing") {
    session.say(`${short(now)} signs: somebody else, or the schedule, has let it.`);
    return { key: now, changed: false };
  }
  const { key } = await activate(session, kid, reason);
  session.say(`${short(key)} signs ${SIGNS[use]} now.`);
  return { key, changed: true };
}

/** Asks again when an answer was lost: the second time it changes nothing. */
async function activate(session: Session, kid: string, reason: string): Promise<KeyOutcomeView> {
  const { clock } = session.platform;
  const startedAt = clock.now();
  for (;;) {
    session.assertGoesOn();
    try {
      return await session.api.step(kid, "activate", { reason });
    } catch (error) {
      if (!(error instanceof AwayError) || clock.now() - startedAt > AWAY_MS_MAX) throw error;
      await session.sleep(REPAINT_EVERY_MS);
    }
  }
}

/** The overlap of the rotation before the present key: it ends by the clock. */
async function untilRetired(session: Session, { use }: Flags): Promise<KeysView | undefined> {
  const view = await session.look();
  const since = signing(view, use)?.since;
  const old = ofUse(view, use).find((key) => key.state === "retiring" && key.since === since);
  if (old === undefined) return undefined;
  const last = await waitForKey(session, {
    kid: old.kid,
    what: "until its overlap ends",
    isOver: (key) => key.state !== "retiring",
    until: (key) => key.until ?? 0,
  });
  session.say(`${short(old)} is retired.`);
  return last;
}

async function interrupted(session: Session, { use }: Flags): Promise<InterruptedError> {
  const lines = ["Interrupted. Nothing is half done: the same command goes on where this one was."];
  try {
    const view = await session.look();
    for (const key of ofUse(view, use))
      if (isPublished(key)) lines.push(`  ${short(key)}  ${key.state}`);
  } catch {
    // What the keys are is shown by `keys list`, too.
  }
  return new InterruptedError(lines.join("\n"), { use });
}
