/** `keys activate`, `keys retire`, `keys revoke`: one step of one key. */
import { buildCommand, type Command } from "@stricli/core";
import type { KeyOutcomeView, KeysView, KeyView } from "@vestibule/contracts/keys-api";
import { action, COMMON_FLAGS } from "../action.ts";
import { confirm } from "../confirm.ts";
import type { CliContext } from "../context.ts";
import { CliFailure, EXIT } from "../failure.ts";
import { findKey, short } from "../key-words.ts";
import { AwayError, RefusedError, type StepName } from "../mint-api.ts";
import { type CommonFlags, Session } from "../session.ts";
import { waitForKey } from "../wait-safe.ts";
import { span } from "../terminal/words.ts";
import { CHANGE_FLAGS, type ChangeFlags } from "./change.ts";
import { proposeKids } from "./propose-kids.ts";
import { stepPlan } from "./step-plan.ts";

interface Flags extends CommonFlags, ChangeFlags {
  readonly force: boolean;
  readonly wait: boolean;
}

const DONE: Readonly<Record<StepName, KeyView["state"]>> = {
  activate: "signing",
  retire: "retired",
  revoke: "revoked",
};
/** The states from which the step leads. */
const FROM: Readonly<Record<StepName, readonly KeyView["state"][]>> = {
  activate: ["staged"],
  retire: ["retiring"],
  revoke: ["staged", "signing", "retiring", "retired"],
};

const KID = {
  brief: "The key, or a beginning of its name that no other has",
  placeholder: "kid",
  parse: String,
} as const;
const FORCE = {
  kind: "boolean",
  brief: "Also when it is not safe yet; needs --reason",
  default: false,
  withNegated: false,
} as const;
const WAIT = {
  kind: "boolean",
  brief: "When it is not safe yet, wait until it is",
  default: false,
  withNegated: false,
} as const;

export const keysActivate: Command<CliContext> = buildCommand<Flags, [string], CliContext>({
  docs: {
    brief: "Let a staged key sign; the one before verifies only",
    fullDescription: [
      "May be run again: the second time it changes nothing. Refused with exit code 4 while it is not",
      "safe, with the time from which it is.",
      "",
      "EXAMPLES",
      "  vestibule keys activate b81Jd0aa",
      "  vestibule keys activate b81Jd0aa --wait --yes",
      "  vestibule keys activate b81Jd0aa --force --reason 'the vendor asked for it'",
    ].join("\n"),
  },
  parameters: {
    flags: { ...COMMON_FLAGS, ...CHANGE_FLAGS, force: FORCE, wait: WAIT },
    positional: {
      kind: "tuple",
      parameters: [{ ...KID, proposeCompletions: proposeKids("activate", FROM.activate) }],
    },
  },
  func: action((context, flags: Flags, kid: string) => step(context, flags, "activate", kid)),
});

export const keysRetire: Command<CliContext> = buildCommand<Flags, [string], CliContext>({
  docs: {
    brief: "End the overlap of a key that signs no more",
    fullDescription: [
      "Not needed: an overlap ends by itself. May be run again.",
      "",
      "EXAMPLES",
      "  vestibule keys retire 3fK9aQzX",
      "  vestibule keys retire 3fK9aQzX --wait",
    ].join("\n"),
  },
  parameters: {
    flags: { ...COMMON_FLAGS, ...CHANGE_FLAGS, force: FORCE, wait: WAIT },
    positional: {
      kind: "tuple",
      parameters: [{ ...KID, proposeCompletions: proposeKids("retire", FROM.retire) }],
    },
  },
  func: action((context, flags: Flags, kid: string) => step(context, flags, "retire", kid)),
});

type RevokeFlags = CommonFlags & ChangeFlags;

export const keysRevoke: Command<CliContext> = buildCommand<RevokeFlags, [string], CliContext>({
  docs: {
    brief: "For a leak: nothing that a key signed is good any more",
    fullDescription: [
      "Safe to ask for at any time, in any state, and again. Its successor signs at once. See docs/runbooks/leaked-key.md.",
      "",
      "EXAMPLES",
      "  vestibule keys revoke 3fK9aQzX --reason 'found in a paste'",
    ].join("\n"),
  },
  parameters: {
    flags: { ...COMMON_FLAGS, ...CHANGE_FLAGS },
    positional: {
      kind: "tuple",
      parameters: [{ ...KID, proposeCompletions: proposeKids("revoke", FROM.revoke) }],
    },
  },
  func: action((context, flags: RevokeFlags, kid: string) =>
    step(context, { ...flags, force: false, wait: false }, "revoke", kid),
  ),
});

async function step(
  { platform }: CliContext,
  flags: Flags,
  name: StepName,
  kid: string,
): Promise<void> {
  const { force, wait, reason } = flags;
  if (force && reason === undefined)
    throw new CliFailure("--force needs --reason: it goes into the audit log.", EXIT.usage);
  if (force && wait)
    throw new CliFailure("--force or --wait, not both: the one does not wait.", EXIT.usage);
  const session = new Session(platform, flags);
  const view = await session.look();
  const key = findKey(view, kid);
  if (key.state === DONE[name]) {
    session.say(`${short(key)} is ${key.state} already: nothing to do.`);
    session.print({ changed: false, seq: view.seq, key });
    return;
  }
  if (!FROM[name].includes(key.state))
    throw new CliFailure(`${short(key)} is ${key.state}: such a key cannot be ${DONE[name]}.`);
  session.say(...stepPlan(session, view, { name, key, force }));
  if (name !== "revoke" && key.next?.isSafe !== true && !force && !wait)
    throw notYet(session, key, key.next?.safeFrom ?? view.serverTime);
  await confirm(session, flags);
  if (wait) await waitUntilSafe(session, key);
  const outcome = await perform(session, key, name, flags);
  session.say(`${short(outcome.key)} is ${outcome.key.state}.`);
  session.print(outcome);
}

async function perform(
  session: Session,
  key: KeyView,
  name: StepName,
  { force, reason }: Pick<Flags, "force" | "reason">,
): Promise<KeyOutcomeView> {
  try {
    return await session.api.step(key.kid, name, {
      ...(force ? { force } : {}),
      ...(reason === undefined ? {} : { reason }),
    });
  } catch (error) {
    if (error instanceof RefusedError && error.code === "not-yet-safe")
      throw notYet(session, key, Number(error.document["safeFrom"]));
    if (!(error instanceof AwayError)) throw error;
    throw new CliFailure(
      `${error.message}\nWhether it was done is not known. Run it again: what was done is not done twice.`,
    );
  }
}

function waitUntilSafe(session: Session, { kid }: KeyView): Promise<KeysView> {
  return waitForKey(session, {
    kid,
    what: "until it is safe",
    isOver: (key) => key.next?.isSafe !== false,
    until: (key) => key.next?.safeFrom ?? 0,
  });
}

function notYet(session: Session, key: KeyView, safeFrom: number): CliFailure {
  const left = span(safeFrom - session.time.now());
  const when = session.clockTime(safeFrom);
  return new CliFailure(
    `Not yet: it is safe from ${when} ${session.zone()} on, in ${left}. --wait waits until then; --force --reason TEXT does it now, and some valid tokens are refused.`,
    EXIT.notYet,
    { code: "not-yet-safe", kid: key.kid, safeFrom },
  );
}
