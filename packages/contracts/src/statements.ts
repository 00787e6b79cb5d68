/** What the mint publishes, signed: the drip of one event, and the manifest of all events. */
import * as z from "zod/mini";
import { manifestLooksSchema } from "./looks.ts";

const whole = z.int().check(z.gte(0));

export const EVENT_STATES = [
  "scheduled",
  "prequeue",
  "open",
  "paused",
  "soldout",
  "ended",
] as const;
export type EventState = (typeof EVENT_STATES)[number];

/**
 * Numbers `base … base+count-1` open evenly over `[from, until)`, epoch milliseconds:
 * `opensAt(base+k) = from + floor(k·(until−from)/count)`. Slots that open after `cutAfter` are void:
 * a hold cut them, and they were, or will be, committed anew.
 */
export const segmentSchema = z.object({
  base: z.int().check(z.gte(1)),
  count: z.int().check(z.gte(1)),
  from: whole,
  until: whole,
  cutAfter: z.optional(whole),
});

/**
 * A hold that has ended. An admission with `nbf > floor(since/1000)` that was signed before
 * `until` (`iat < floor(until/1000)`) is void: its slot was cut and given anew.
 */
const cutSchema = z.object({ since: whole, until: whole });

/**
 * What is left may be gone any moment: while the sale is open, pages look about every second within `[from, until)`,
 * epoch milliseconds, so that sold out reaches them at once. `from` is never before the opening, and often ahead of now.
 */
const lastCallSchema = z.object({ from: whole, until: whole });

/**
 * At most so many are left: a band (`bandOf`), 9 meaning fewer than ten. Of pieces; with `turns` of turns, where
 * `maxAdmissions` leaves fewer of those than there are pieces. What is held counts: it may come back.
 */
const leftSchema = z.object({ atMost: whole, turns: z.optional(z.boolean()) });

/** Claims of `vst-drip+jwt` besides the registered ones. Times are epoch milliseconds. */
export const dripClaimsSchema = z.object({
  iss: z.string(),
  aud: z.string(),
  iat: whole,
  exp: whole,
  /** The mint's clock in milliseconds when it signed: finer than `iat`, for clock offsets. */
  at: whole,
  seq: whole,
  /** `seq` of the newest key set: whoever has an older one asks for it. */
  keysSeq: z.optional(whole),
  state: z.enum(EVENT_STATES),
  segments: z.array(segmentSchema),
  /** Highest number whose slot has opened. */
  serving: whole,
  /** Numbers are committed up to here; whoever is behind it waits. */
  committed: whole,
  /** Runs of numbers behind `committed` that nobody holds, `[first, last]`, ascending. */
  skips: z.array(z.tuple([whole, whole])),
  /** People whom the line has passed and owes a slot: they come before all others. Absent: nobody. */
  owed: z.optional(whole),
  /** People who were given a number so far, rounded up. */
  issued: whole,
  /** Slots per minute at `at`. */
  rate: whole,
  /** What it will be by the organizer's plan, `[moment, rate from then on]`: the next changes, ascending. Absent: none. */
  rates: z.optional(z.array(z.tuple([whole, whole]))),
  /** Per cent of the rate at which lapsed slots are given back. Absent: 150. */
  overdrive: z.optional(whole),
  /** Per cent of the rate between which the line moves if as many come as did lately. Absent: 100 to `overdrive`. */
  pace: z.optional(z.tuple([whole, whole])),
  /** Of a hundred whose turn came lately, at least so many have come for it. Absent: nobody knows yet. */
  come: z.optional(whole),
  notice: z.string(),
  /** A claim needs `confirmed: true`: somebody has said that they are there. Absent: it does not. */
  presence: z.optional(z.enum(["confirm"])),
  heldSince: z.optional(whole),
  heldScope: z.optional(z.enum(["entries", "all"])),
  /** The organizer's words for it; absent when there are none. */
  heldReason: z.optional(z.string()),
  cuts: z.array(cutSchema),
  startsAt: z.optional(whole),
  endsAt: whole,
  lastCall: z.optional(lastCallSchema),
  /** The organizer's words for what it costs; absent when there are none. */
  priceRange: z.optional(z.string()),
  /** Absent: nobody said, or the organizer does not tell. */
  left: z.optional(leftSchema),
});
export type DripClaims = z.infer<typeof dripClaimsSchema>;

/** One event in the manifest: what a location needs to route, verify and show. */
export const manifestEventSchema = z.object({
  event: z.string(),
  title: z.string(),
  hosts: z.array(z.string()),
  paths: z.array(z.string()),
  bypass: z.array(
    z.object({
      paths: z.array(z.string()),
      methods: z.optional(z.array(z.string())),
      /** Its place among the event's rules, from 0. Absent: its place here. */
      rule: z.optional(whole),
    }),
  ),
  homePath: z.string(),
  lifetimeSeconds: whole,
  claimWindowSeconds: whole,
  holdingStatus: whole,
  accent: z.string(),
  endsAt: whole,
  startsAt: z.optional(whole),
  joinableAt: z.optional(whole),
  looks: z.optional(manifestLooksSchema),
  /** Of the page, where a browser asks for none that it has. A location that does not have it either takes English. */
  language: z.optional(z.string()),
  /**
   * Bypass rules that name more than paths and methods. Never in `bypass`: a location from before would take them without
   * their conditions (ADR 18). For the same reason a rule with a member that a location does not know opens nothing there.
   */
  conditionalBypass: z.optional(
    z.array(
      z.looseObject({
        rule: whole,
        paths: z.array(z.string()),
        methods: z.optional(z.array(z.string())),
        networks: z.optional(z.array(z.string())),
        services: z.optional(z.array(z.string())),
      }),
    ),
  ),
  /** What differs from the defaults. A location that knows nothing of it lets through: it is friction only. */
  friction: z.optional(
    z.object({ limit: z.optional(z.boolean()), proofOfWorkBits: z.optional(whole) }),
  ),
});
export type ManifestEvent = z.infer<typeof manifestEventSchema>;

/** Claims of `vst-manifest+jwt`. */
export const manifestClaimsSchema = z.object({
  iss: z.string(),
  iat: whole,
  exp: whole,
  seq: whole,
  /** As in the drip. */
  keysSeq: z.optional(whole),
  events: z.array(manifestEventSchema),
});
export type ManifestClaims = z.infer<typeof manifestClaimsSchema>;

/**
 * `GET /_vestibule/events/{event}/drip` at the edge: the statement as plain JSON, the same bytes for
 * everyone. `event` replaces `aud`; everything else keeps its name and meaning.
 */
export type DripView = Omit<DripClaims, "iss" | "aud" | "keysSeq"> & {
  readonly event: string;
  /** Of the location that answers, not of the line: its own clock is wrong, and it lets nobody in. */
  readonly fault?: "clock";
};
