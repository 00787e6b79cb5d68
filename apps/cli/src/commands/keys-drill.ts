import { buildCommand } from "@stricli/core";
import type { KeysView } from "@vestibule/contracts/keys-api";
import { KEY_USES, type KeyUse } from "@vestibule/keys/public-key";
import { action, COMMON_FLAGS } from "../action.ts";
import { confirm } from "../confirm.ts";
import type { CliContext } from "../context.ts";
import { Drill } from "../drill/drill.ts";
import { Fans, mintDoor } from "../drill/fans.ts";
import { createForger } from "../drill/forgeries.ts";
import { KeyHistory } from "../drill/key-history.ts";
import { Location } from "../drill/location.ts";
import {
  closeRehearsal,
  findRehearsal,
  type FoundRehearsal,
  openRehearsal,
  rehearsalName,
} from "../drill/rehearsal.ts";
import { type DrillReport, isPassed, reportLines } from "../drill/report.ts";
import { Rounds } from "../drill/rounds.ts";
import { partOf } from "../token-part.ts";
import { type Takeover, Tally } from "../drill/tally.ts";
import { createVerifiers } from "../drill/verifiers.ts";
import { CliFailure, EXIT, type ExitCode } from "../failure.ts";
import { ofUse, short, signing, SIGNS, staged } from "../key-words.ts";
import {
  DRILL_BASELINE_MS,
  DRILL_LIFETIME_SECONDS,
  DRILL_TIMEOUT_SECONDS_DEFAULT,
  DRILL_TIMEOUT_SECONDS_MAX,
  DRILL_TIMEOUT_SECONDS_MIN,
} from "../limits.ts";
import { type CommonFlags, Session } from "../session.ts";
import { factLines } from "../terminal/style.ts";
import { span } from "../terminal/words.ts";
import { CHANGE_FLAGS, type ChangeFlags, placesOf } from "./change.ts";
import { stageOn } from "./keys-stage.ts";

interface Flags extends CommonFlags, ChangeFlags {
  readonly use: KeyUse;
  readonly edge?: readonly string[] | undefined;
  /** Seconds. */
  readonly timeout: number;
}

export const keysDrill = buildCommand({
  docs: {
    brief: "Rehearse a rotation against the running system, under live verification",
    fullDescription: [
      "Rotates for real, costs nobody anything, and proves it: fans of a rehearsal of its own join and claim at the",
      "mint (and at each --edge), and every admission is verified again and again until it ends, by verifiers",
      "with key sets of different ages and clocks at both ends of the tolerance. Forged tokens are shown as well.",
      "Exit code 0 only when nothing good was refused, nothing forged was taken, and all of it was seen.",
      "A staged key may have to wait until it may sign; Ctrl-C stops cleanly, and running it again is safe.",
      "",
      "EXAMPLES",
      "  vestibule keys drill",
      "  vestibule keys drill --yes --json | tail -n 1 | jq '{checked, refused}'",
      "  vestibule keys drill --edge https://shop.example --use line --timeout 20m",
    ].join("\n"),
  },
  parameters: {
    flags: {
      ...COMMON_FLAGS,
      ...CHANGE_FLAGS,
      use: { kind: "enum", values: KEY_USES, brief: "Which key", default: "admission" },
      edge: {
        kind: "parsed",
        parse: String,
        brief: "A location to verify through, too; may be repeated (else VESTIBULE_EDGE_URLS)",
        optional: true,
        variadic: true,
        placeholder: "url",
      },
      timeout: {
        kind: "parsed",
        parse: secondsOf,
        brief: "The longest that it may take, such as 90s or 20m",
        default: `${DRILL_TIMEOUT_SECONDS_DEFAULT}s`,
        placeholder: "span",
      },
    },
  },
  func: action((context, flags: Flags) => drill(context, flags)),
});

async function drill({ platform }: CliContext, flags: Flags): Promise<ExitCode> {
  const edgeUrls = (flags.edge ?? []).map((url) => url.replace(/\/+$/, ""));
  const session = new Session(platform, flags, { edgeUrls });
  let view = await session.look();
  const found = await findRehearsal(session);
  assertPossible(session, view, flags);
  announce(session, view, found, flags);
  await confirm(session, flags);
  const reason = flags.reason ?? "vestibule keys drill";
  if (staged(view, flags.use)[0] === undefined) {
    await stageOn(session, view, { use: flags.use, reason });
    view = await session.look();
  }
  const report = await held(session, { view, found, flags, reason });
  session.say(...reportLines(session, report));
  session.print(report);
  if (report.interrupted === true) return EXIT.interrupted;
  return isPassed(report) ? EXIT.done : EXIT.failed;
}

/** The drill itself, with its rehearsal open for as long. */
async function held(
  session: Session,
  given: {
    view: KeysView;
    found: FoundRehearsal;
    flags: Flags;
    reason: string;
  },
): Promise<DrillReport> {
  const { view, found, flags, reason } = given;
  const { platform, settings, api, time } = session;
  const endsAt = time.now() + flags.timeout * 1_000;
  const { event, lifetimeSeconds } = await openRehearsal(session, found, endsAt);
  try {
    const takeover: Takeover = {
      from: signing(view, flags.use)?.kid ?? "",
      to: staged(view, flags.use)[0]?.kid ?? "",
      at: undefined,
    };
    const history = await KeyHistory.begin((await api.jwks()).body, view, time.now());
    if (history === undefined)
      throw new CliFailure("The mint's key set is none that a verifier takes.");
    const { iss: issuer } = partOf(await api.manifest(), 1);
    if (typeof issuer !== "string") throw new CliFailure("The mint's manifest names no issuer.");
    const { send, fetchText, sleep, randomness } = platform;
    const now = (): ReturnType<typeof time.now> => time.now();
    const verifiers = createVerifiers(
      { mintUrl: api.url, issuer, event, lifetimeSeconds, fetchText, sleep, now, history },
      view.policies[flags.use].jwksCacheSeconds,
    );
    const locations = settings.edgeUrls.map((url) => new Location(url, event, send));
    const goesOn = (): boolean => !platform.interrupted.is && time.now() < endsAt;
    const doors = [mintDoor(api.url, event, send), ...locations];
    const fans = new Fans({ doors, randomness, sleep, goesOn });
    const tally = new Tally();
    const checkers = [...verifiers, ...locations];
    const forger = await createForger();
    const rounds = new Rounds({
      checkers,
      fans,
      tally,
      takeover,
      forger,
      issuer,
      event,
      now,
    });
    const parts = { session, use: flags.use, reason, event, checkers, fans, rounds, tally };
    return await new Drill({ ...parts, takeover, history, startedAt: time.now(), endsAt }).run();
  } finally {
    const closed = await closeRehearsal(session, event);
    if (!closed) session.say(`The rehearsal ${event} was not closed: it ends by itself.`);
  }
}

/** @throws CliFailure when it could not end well, before anything is changed. */
function assertPossible(session: Session, view: KeysView, { use, timeout }: Flags): void {
  if (signing(view, use) === undefined) throw new CliFailure(`No key of use ${use} signs.`);
  const { taken, max } = placesOf(view, use);
  const needed = staged(view, use).length === 0 ? 2 : 1;
  if (taken + needed > max - 1) {
    const ends = ofUse(view, use).flatMap(({ until }) => (until === undefined ? [] : [until]));
    const when =
      ends.length === 0
        ? "revoke or retire one"
        : `the next one ends at ${session.moment(Math.min(...ends))}`;
    throw new CliFailure(
      `There is no place for a drill: ${taken} of ${max} keys of use ${use} are published, and one place stays free for an emergency; ${when}.`,
    );
  }
  const waitMs = safeFrom(session, view, use) - session.time.now();
  const neededMs = Math.max(0, waitMs) + DRILL_BASELINE_MS + 2 * DRILL_LIFETIME_SECONDS * 1_000;
  if (neededMs > timeout * 1_000) {
    throw new CliFailure(
      `--timeout ${span(timeout * 1_000)} is too short: the next key may sign in ${span(Math.max(0, waitMs))}, and the drill needs ${span(neededMs)}.`,
      EXIT.notYet,
      { code: "not-yet-safe", safeFrom: safeFrom(session, view, use) },
    );
  }
}

function safeFrom({ time }: Session, view: KeysView, use: KeyUse): number {
  const next = staged(view, use)[0]?.next;
  if (next?.isSafe === true) return time.now();
  return next?.safeFrom ?? time.now() + view.policies[use].stagedSeconds * 1_000;
}

function announce(session: Session, view: KeysView, found: FoundRehearsal, flags: Flags): void {
  const { use } = flags;
  const old = signing(view, use) ?? { kid: "" };
  const [next] = staged(view, use);
  const safe = safeFrom(session, view, use);
  const isSafe = safe <= session.time.now();
  const { edgeUrls } = session.settings;
  const wait = isSafe ? "which is safe now" : `after a wait until about ${session.moment(safe)}`;
  const kept = found.kind === "there" ? "used again" : "made, and kept for the next drill";
  session.say(
    session.paint("bold", `Drill: rotate the key that signs ${SIGNS[use]}, for real`),
    ...factLines(
      [
        [next === undefined ? "a new key" : short(next), `staged -> signing, ${wait}`],
        [short(old), "signing -> retiring, then retired by itself"],
        ["traffic", `fans of the rehearsal ${rehearsalName(found)}, which is ${kept}`],
        [
          "locations",
          edgeUrls.length === 0
            ? "none are asked (--edge URL, or VESTIBULE_EDGE_URLS)"
            : edgeUrls.join(", "),
        ],
        ["affected", "nobody"],
        ["run again", "safe, also after Ctrl-C"],
        ...(view.frozenBy.length === 0
          ? []
          : [["schedule", `held back by ${view.frozenBy.join(", ")}; this is by hand`] as const]),
      ],
      session.human.columns,
    ),
  );
}

/** @throws Error for the library, which says of which option. */
function secondsOf(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,6})(s|m|h)?$/.exec(text.trim()) ?? [];
  const value = Number(digits) * ({ s: 1, m: 60, h: 3_600 }[unit] ?? 1);
  if (digits === "" || value < DRILL_TIMEOUT_SECONDS_MIN || value > DRILL_TIMEOUT_SECONDS_MAX)
    throw new Error(
      `a span from ${DRILL_TIMEOUT_SECONDS_MIN}s to ${DRILL_TIMEOUT_SECONDS_MAX / 3_600}h, such as 90s or 20m`,
    );
  return value;
}
