/** Every state of the holding page, as scenes: each is set up in the same way for `look` and for its test. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type EVENT, NOW, type World, isQuestion, refusal } from "../world.ts";
import type { PageState } from "@vestibule/client/view";

/** The moment of every scene, by every clock in it: a Friday, 08:00 UTC. */
const AT = NOW;

export interface Scene {
  /** Beside its state, where there are several. */
  readonly name?: string;
  readonly number?: number;
  readonly drip?: Partial<World["drip"]>;
  readonly event?: Partial<typeof EVENT>;
  readonly prepare?: (world: World) => void;
  readonly cookies?: false;
  readonly credit?: true;
  readonly bought?: true;
  /** A form for the shop is sent, and this comes instead. */
  readonly sent?: true;
  /** This slot, which opens then, has been claimed. */
  readonly claimed?: number;
  /** The button of this form is pressed, which is in that state before. */
  readonly pressed?: { readonly form: string; readonly before: PageState };
  readonly offline?: true;
  readonly script?: false;
  /** Kept on every screen; the others on a phone only, light and dark. */
  readonly everywhere?: true;
}

const NEVER = (): Promise<Response> => new Promise(() => undefined);
const noGrants = (world: World) => {
  world.mint = ({ method, url }) => (method === "POST" && !isQuestion(url) ? NEVER() : undefined);
};
const wrongClock = (world: World) => {
  world.clockOffMs = 600_000;
};
const refused =
  (code: Parameters<typeof refusal>[0], where = "/admissions") =>
  (world: World) => {
    world.mint = ({ url }) => (url.endsWith(where) ? refusal(code) : undefined);
  };
const past = (ms: number) => ({
  segments: [{ base: 1, count: 100, from: AT - ms - 10_000, until: AT - ms }],
});
/** As the mint would keep them. */
const EXAMPLE = join(import.meta.dirname, "../../../../docs/examples/looks.json");
const inLooks = {
  event: { looks: JSON.parse(readFileSync(EXAMPLE, "utf8")) as NonNullable<typeof EVENT.looks> },
};
const asks = { presence: "confirm" } as const;
const plain = { script: false } as const;

/** By the state that each ends in. A state without a scene does not compile. */
export const SCENES: Readonly<Record<PageState, readonly [Scene, ...Scene[]]>> = {
  joining: [
    { prepare: noGrants },
    { name: "plain", ...plain },
    { name: "looks", ...inLooks, prepare: noGrants },
  ],
  scheduled: [
    {
      everywhere: true,
      event: { startsAt: AT + 754_000, joinableAt: AT + 754_000 },
      drip: { state: "scheduled", startsAt: AT + 754_000 },
    },
    {
      name: "with-place",
      number: 812,
      drip: {
        ...{ state: "prequeue", startsAt: AT + 4_754_000 },
        ...{ segments: [], committed: 0, serving: 0 },
      },
    },
  ],
  waiting: [
    { number: 1_204, drip: { serving: 310 }, everywhere: true },
    { name: "plain", number: 1_204, ...plain },
    { name: "looks", number: 1_204, ...inLooks, everywhere: true },
    {
      name: "far",
      number: 1_240_833,
      everywhere: true,
      drip: {
        rate: 6_000,
        notice: "The night train is sold out. Day trains have plenty of seats left – شكراً لصبركم.",
      },
    },
    { name: "asks", number: 1_204, drip: asks },
    {
      name: "unlikely",
      number: 4_204,
      drip: { priceRange: "€ 18 to € 45", left: { atMost: 40 }, serving: 310 },
    },
    { name: "sent", number: 1_204, sent: true },
    { name: "sent-plain", number: 1_204, sent: true, ...plain },
  ],
  near: [
    {
      number: 112,
      drip: { segments: [{ base: 1, count: 100, from: AT - 60_000, until: AT + 20_000 }] },
    },
  ],
  known: [
    { number: 75, prepare: noGrants, everywhere: true },
    { name: "looks", number: 75, prepare: noGrants, ...inLooks },
    {
      name: "said",
      number: 75,
      claimed: AT + 60_000,
      drip: {
        ...asks,
        segments: [{ base: 75, count: 1, from: AT + 60_000, until: AT + 61_000 }],
      },
    },
  ],
  turn: [
    { number: 5, prepare: noGrants, everywhere: true },
    { name: "looks", number: 5, prepare: noGrants, ...inLooks },
    { name: "plain", number: 5, ...plain },
  ],
  confirm: [
    { number: 75, drip: asks, prepare: noGrants, everywhere: true },
    { name: "turn", number: 5, drip: asks, prepare: noGrants },
    {
      name: "hurry",
      number: 5,
      event: { claimWindowSeconds: 25 },
      drip: asks,
      prepare: noGrants,
    },
    {
      name: "said",
      number: 75,
      pressed: { form: "confirm", before: "confirm" },
      drip: asks,
      prepare: noGrants,
    },
    { name: "plain", number: 75, drip: asks, ...plain },
  ],
  passed: [
    { number: 5, drip: { segments: [] }, prepare: noGrants },
    { name: "plain", number: 5, drip: { segments: [] }, ...plain },
  ],
  owed: [{ number: 5, drip: { segments: [] }, prepare: refused("too-early") }],
  missed: [
    { number: 5, drip: past(400_000), prepare: refused("slot-over") },
    { name: "plain", number: 5, drip: past(400_000), ...plain },
  ],
  gone: [
    { number: 1_204, pressed: { form: "leave", before: "waiting" } },
    {
      name: "shut",
      number: 1_204,
      drip: { state: "soldout" },
      pressed: { form: "leave", before: "soldout" },
    },
  ],
  bought: [
    { number: 5, bought: true, drip: { segments: [] } },
    { name: "plain", number: 5, bought: true, drip: { segments: [] }, ...plain },
    { name: "shut", number: 5, bought: true, drip: { state: "soldout" } },
  ],
  credit: [
    { number: 5, credit: true, drip: past(900_000), prepare: refused("too-early") },
    { name: "plain", number: 5, credit: true, drip: past(900_000), ...plain },
  ],
  paused: [
    {
      number: 1_204,
      everywhere: true,
      drip: {
        state: "paused",
        heldSince: AT - 9_000,
        heldReason: "Back at half past eight.",
        notice: "A short break: the payment provider is slow. We go on in a few minutes.",
      },
    },
  ],
  soldout: [
    { number: 1_204, drip: { state: "soldout" } },
    { name: "without", drip: { state: "soldout" } },
    { name: "looks", drip: { state: "soldout" }, ...inLooks },
  ],
  ended: [{ number: 1_204, drip: { state: "ended" } }],
  unreachable: [{ prepare: refused("unavailable", "/tickets") }],
  offline: [{ number: 1_204, offline: true }],
  clock: [
    { number: 5, prepare: wrongClock },
    { name: "plain", number: 5, prepare: wrongClock, ...plain },
    {
      name: "without",
      prepare: (world) => {
        wrongClock(world);
        noGrants(world);
      },
    },
  ],
  cookies: [{ cookies: false }],
};

/** One scene, with its state and its whole name. */
export interface NamedScene extends Scene {
  readonly state: PageState;
  readonly name: string;
}

/** All of them, in the order in which a fan may come through them. */
export const ALL_SCENES: readonly NamedScene[] = Object.entries(SCENES).flatMap(([state, scenes]) =>
  scenes.map((scene) => ({
    ...scene,
    state: state as PageState,
    name: scene.name === undefined ? state : `${state}-${scene.name}`,
  })),
);
