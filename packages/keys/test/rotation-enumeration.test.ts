/**
 * Every reachable state of up to three keys, under every command, at every second and with every clock within the
 * tolerance: breadth first, on a policy of few seconds.
 */
import { type KeyRecord, type RotationRequest, apply, check, plan } from "@vestibule/keys/rotation";
import { expect, test } from "vitest";
import {
  type Beginning,
  type Command,
  NOW,
  type State,
  type Truth,
  after,
  beginning,
  policy,
  recordsOf,
  truth,
} from "./rotation-world.ts";

interface Exploring {
  readonly world?: Truth;
  readonly from?: readonly Beginning[];
  /** Steps that are not safe yet are taken as well. */
  readonly force?: boolean;
  /** Settings change, too, and what a request makes due may stay undone. */
  readonly everything?: boolean;
}

function commands(
  { keys }: State,
  { world = truth, force = false, everything = false }: Exploring,
): Command[] {
  const requests = keys.flatMap(({ kid }): RotationRequest[] => [
    { do: "promote", kid, force },
    { do: "retire", kid, force },
    { do: "revoke", kid },
  ]);
  return [
    { do: "nothing" },
    { do: "plan", frozen: false },
    { do: "plan", frozen: true },
    ...(world.mints.length > 1 ? [{ do: "failover" } as const] : []),
    ...(everything ? [{ do: "change settings" } as const] : []),
    ...[{ do: "stage" } as const, ...requests].flatMap((request): Command[] => [
      { do: "request", request, settles: true },
      ...(everything ? [{ do: "request", request, settles: false } as const] : []),
    ]),
  ];
}

interface Explored {
  readonly states: readonly State[];
  readonly wrong: ReadonlySet<string>;
  /** What became of each command about a key in each state. */
  readonly outcomes: Readonly<Record<string, readonly string[]>>;
}

function explore(exploring: Exploring): Explored {
  const { world = truth, from = ["one key"] } = exploring;
  let edge: readonly State[] = from.map((which) => beginning(which, world));
  const seen = new Map(edge.map((state) => [JSON.stringify(state), state]));
  const wrong = new Set<string>();
  const outcomes = new Map<string, Set<string>>();
  const visit = (state: State, command: Command): State | undefined => {
    const result = after(state, command, world);
    const request = command.do === "request" ? command.request : command;
    const about = "kid" in request && state.keys.find((key) => key.kid === request.kid);
    const title = about ? `${about.state}: ${request.do}` : request.do;
    const said = result.kind === "refused" ? result.reason : result.kind;
    outcomes.set(title, (outcomes.get(title) ?? new Set()).add(said));
    if (result.kind === "next") return result.state;
    if (result.kind !== "wrong") return undefined;
    wrong.add(result.what);
    // Whoever forces has been warned: what comes after it must go on even so.
    return result.next;
  };
  while (edge.length > 0) {
    const next: State[] = [];
    for (const state of edge) {
      for (const command of commands(state, exploring)) {
        const result = visit(state, command);
        const text = JSON.stringify(result);
        if (result === undefined || seen.has(text)) continue;
        seen.set(text, result);
        next.push(result);
      }
    }
    edge = next;
  }
  const sorted = [...outcomes].map(([title, said]) => [title, [...said].sort()] as const);
  return { states: [...seen.values()], wrong, outcomes: Object.fromEntries(sorted) };
}

const all = explore({ from: ["one key", "no key"], everything: true });

test("no reachable state of three keys in which a valid token is refused, signing stops or a known successor is lost", () => {
  expect([...all.wrong]).toEqual([]);
  expect(all.states.length).toBeGreaterThan(4_000);
});

test("every command was tried in every state of a key, and had every answer that it may have", () => {
  const wrongState = ["wrong-state"];
  const ifSafe = ["next", "not-yet-safe"];
  expect(all.outcomes).toEqual({
    ...{ nothing: ["next"], plan: ["next"], "change settings": ["next"] },
    stage: ["beyond", "next", "too-many-keys"],
    ...{ "staged: promote": ifSafe, "staged: retire": wrongState, "staged: revoke": ["next"] },
    "signing: promote": wrongState,
    ...{ "signing: retire": wrongState, "signing: revoke": ["next"] },
    "retiring: promote": wrongState,
    ...{ "retiring: retire": ifSafe, "retiring: revoke": ["next"] },
  });
});

/** What is not as it should be about keys that are over, beside these. */
function* disturbances(live: readonly KeyRecord[]): Iterable<string> {
  const over = (state: "retired" | "revoked"): KeyRecord => ({ kid: state, state, since: NOW });
  const keys = [...live, over("retired"), over("revoked")];
  for (const kid of ["retired", "revoked"]) {
    for (const step of ["promote", "retire"] as const) {
      for (const force of [false, true])
        if (check(keys, { do: step, kid, force }, NOW, policy).ok) yield `${kid}: ${step}`;
    }
  }
  if (check(keys, { do: "revoke", kid: "revoked" }, NOW, policy).ok) yield "revoked: revoke";
  const revoke = check(keys, { do: "revoke", kid: "retired" }, NOW, policy);
  if (!revoke.ok || revoke.value.do !== "revoke") yield "retired: revoke is refused";
  else {
    const later = apply(keys, revoke.value, { now: NOW });
    if (live.some((key) => !later.includes(key))) yield "retired: revoke changes another";
  }
  const planned = [keys, live].map((set) => JSON.stringify(plan(set, NOW, policy)));
  if (planned[0] !== planned[1]) yield "the plan heeds them";
}

test("in every state: keys that are over take no step, with force or without, and disturb no other", () => {
  const found = all.states.flatMap((state) => [...disturbances(recordsOf(state))]);
  expect([...new Set(found)]).toEqual([]);
});

/** What the propagation has to spare for clocks of mints that differ. */
const failover = { ...truth, lagSeconds: 0 };

test.each<[string, Exploring]>([
  ["a key of the other use stands in at first", { from: ["a stand-in"] }],
  [
    "another mint takes over again and again, its clock ahead",
    { world: { ...failover, mints: [0, 1] } },
  ],
  [
    "another mint takes over again and again, its clock behind",
    { world: { ...failover, mints: [0, -1] } },
  ],
  [
    "tokens live longer than the policy says, as the mint knows",
    { world: { ...truth, lifeSeconds: 4, knownLifeSeconds: 4 } },
  ],
])("nor when %s", (_name, exploring) => {
  const { states, wrong } = explore(exploring);
  expect([...wrong]).toEqual([]);
  expect(states.length).toBeGreaterThan(500);
});

test("steps that are forced may refuse, but signing never stops and the set stays within its bound", () => {
  const { wrong } = explore({ force: true, from: ["one key", "no key"] });
  expect([...wrong]).toEqual(["a valid token is refused"]);
});

test.each<[string, Exploring]>([
  ["steps are forced before they are safe", { force: true }],
  ["tokens live a second longer than the policy says", { world: { ...truth, lifeSeconds: 3 } }],
  [
    "copies are older than the policy says, by more than the skew that staging adds",
    { world: { ...truth, cacheSeconds: 3 } },
  ],
  ["clocks are a second further apart, on one side alone", { world: { ...truth, skewSeconds: 2 } }],
  [
    "sets have no numbers of their own",
    { world: { ...truth, numbered: false }, from: ["one key", "no key"] },
  ],
  [
    "clocks of mints differ by more than the propagation has to spare",
    { world: { ...truth, mints: [0, 1] } },
  ],
])("canary: a refusal is found when %s", (_name, broken) => {
  expect([...explore(broken).wrong]).toContain("a valid token is refused");
});
