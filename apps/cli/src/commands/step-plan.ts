/** What a step will do, before it is done. */
import type { KeysView, KeyView } from "@vestibule/contracts/keys-api";
import { REVOCATION_SECONDS_MAX } from "@vestibule/contracts/limits";
import { short, signing, SIGNS, staged } from "../key-words.ts";
import type { StepName } from "../mint-api.ts";
import type { Session } from "../session.ts";
import { factLines, wrap } from "../terminal/style.ts";
import { span } from "../terminal/words.ts";

interface Planned {
  readonly name: StepName;
  readonly key: KeyView;
  readonly force: boolean;
}

/** @returns lines, none longer than the screen. */
export function stepPlan(session: Session, view: KeysView, planned: Planned): readonly string[] {
  const { name, key, force } = planned;
  const titles = { activate: "Activate", retire: "Retire", revoke: "Revoke" };
  const isEarly = name !== "revoke" && key.next?.isSafe !== true;
  const facts: [string, string][] = [
    ...changes(session, view, planned),
    ["affected", affected(planned)],
    ["safe", whenSafe(session, planned)],
    ["run again", "safe: the second time it changes nothing"],
  ];
  return [
    session.paint("bold", `${titles[name]} ${short(key)}`) + `  ${key.kid}`,
    ...factLines(facts, session.human.columns),
    ...(isEarly && force
      ? wrap(
          session.paint("red", "Forced before it is safe: some valid tokens will be refused."),
          session.human.columns,
        )
      : []),
  ];
}

function changes(session: Session, view: KeysView, { name, key }: Planned): [string, string][] {
  if (name === "retire") return [[short(key), "retiring -> retired: verifies no more"]];
  const { use } = key;
  const policy = view.policies[use];
  const now = session.time.now();
  if (name === "activate") {
    const old = signing(view, use);
    const until = session.clockTime(now + policy.retiringSeconds * 1_000);
    return [
      [short(key), `staged -> signing: signs ${SIGNS[use]}`],
      ...(old === undefined
        ? []
        : ([[short(old), `signing -> retiring: verifies until ${until} or later`]] as [
            string,
            string,
          ][])),
    ];
  }
  const [next] = staged(view, use).filter(({ kid }) => kid !== key.kid);
  const heir = next === undefined ? "a new key" : short(next);
  return [
    [short(key), `${key.state} -> revoked: nothing that it signed is good`],
    ...(key.state === "signing"
      ? ([[heir, `${next === undefined ? "nothing" : "staged"} -> signing, at once`]] as [
          string,
          string,
        ][])
      : []),
  ];
}

function affected({ name, key, force }: Planned): string {
  const isEarly = key.next?.isSafe !== true;
  if (name !== "revoke") {
    if (isEarly && force)
      return name === "activate"
        ? "whoever is at a location whose copy of the key set is older than this key, until it asks again"
        : "whoever holds something that this key signed and that is still valid";
    return "nobody";
  }
  const within = `Refused everywhere within ${REVOCATION_SECONDS_MAX} s.`;
  if (key.state === "staged") return `nobody: it has signed nothing. ${within}`;
  return key.use === "admission"
    ? `whoever holds an admission that it signed: claims again, and keeps the slot. ${within}`
    : `whoever holds a ticket that it signed loses the place and joins anew, at the end. ${within}`;
}

function whenSafe(session: Session, { name, key }: Planned): string {
  if (name === "revoke") return "at any time, in any state";
  const { safeFrom, isSafe } = key.next ?? { safeFrom: 0, isSafe: false };
  if (isSafe) return "now";
  return `from ${session.clockTime(safeFrom)} on, in ${span(safeFrom - session.time.now())}`;
}
