/** What an organizer says of a change on the command line, as the mint takes it. */
import {
  type BypassRule,
  type EventChange,
  PRESENCES,
  type Presence,
} from "@vestibule/contracts/event-settings";
import { LANGUAGES } from "@vestibule/contracts/languages";
import { CliFailure, EXIT } from "../failure.ts";

/** A moment of the mint's clock, or so long from now. */
export type Moment = { readonly at: number } | { readonly inMs: number };

interface RateStep {
  readonly when: Moment;
  readonly ratePerMinute: number;
}

export interface SaleFlags {
  readonly rate?: number | undefined;
  readonly step?: readonly RateStep[] | undefined;
  readonly ramp?: readonly RateStep[] | undefined;
  readonly endPlan: boolean;
  readonly budget?: number | undefined;
  readonly overdrive?: number | undefined;
  readonly horizon?: number | undefined;
  readonly maxAdmissions?: number | "none" | undefined;
  readonly endsAt?: Moment | undefined;
  readonly notice?: string | undefined;
  readonly priceRange?: string | undefined;
  readonly tellLeft?: boolean | undefined;
  readonly presence?: Presence | undefined;
  readonly bypass?: BypassRule[] | undefined;
  readonly friction?: EventChange["friction"];
  readonly looks?: EventChange["looks"];
  readonly language?: EventChange["language"];
}

const count = (brief: string, placeholder: string) =>
  ({ kind: "parsed", parse: wholeOf, brief, placeholder, optional: true }) as const;
const steps = (brief: string) =>
  ({
    kind: "parsed",
    parse: stepOf,
    brief,
    placeholder: "time=rate",
    optional: true,
    variadic: true,
  }) as const;

export const SALE_FLAGS = {
  rate: count("Slots per minute, from now on; ends a plan unless one is given", "n"),
  step: steps("From then on, so many per minute; may be given again"),
  ramp: steps("The same, and evenly from there to the next step's rate"),
  endPlan: {
    kind: "boolean",
    brief: "No plan any more: the rate of now stays",
    default: false,
    withNegated: false,
  },
  budget: count("Slots that may open beyond the rate, to make up for a stall", "n"),
  overdrive: count("Speed of what is given back, per cent of the rate", "percent"),
  horizon: count("How far ahead turns are fixed, seconds; not less than before", "s"),
  maxAdmissions: {
    kind: "parsed",
    parse: (text: string) => (text === "none" ? text : wholeOf(text)),
    brief: "No more turns than this, lapsed ones not counted; or none",
    placeholder: "n",
    optional: true,
  },
  endsAt: {
    kind: "parsed",
    parse: momentOf,
    brief: "The end of the sale",
    placeholder: "time",
    optional: true,
  },
  notice: {
    kind: "parsed",
    parse: String,
    brief: "A line of text for everybody who waits",
    placeholder: "text",
    optional: true,
  },
  priceRange: {
    kind: "parsed",
    parse: String,
    brief: "What it costs, for everybody who waits",
    placeholder: "text",
    optional: true,
  },
  tellLeft: {
    kind: "boolean",
    brief: "Whether those who wait are told about how much is left",
    optional: true,
  },
  presence: {
    kind: "enum",
    values: PRESENCES,
    brief: "auto: fans go in by themselves; confirm: they are asked whether they are there",
    optional: true,
  },
  bypass: {
    kind: "parsed",
    parse: rulesOf,
    brief: "All bypass rules anew, as JSON; [] for none",
    placeholder: "json",
    optional: true,
  },
  friction: {
    kind: "parsed",
    parse: objectOf,
    brief: "What is asked before a new place, as JSON; {} for the usual",
    placeholder: "json",
    optional: true,
  },
  looks: {
    kind: "parsed",
    parse: objectOf,
    brief: "The page's looks anew, as JSON; {} for none",
    placeholder: "json",
    optional: true,
  },
  language: {
    kind: "enum",
    values: LANGUAGES,
    brief: "The page's language for whoever asks for none of its own",
    optional: true,
  },
} as const;

/**
 * @param now the mint's
 * @throws CliFailure for options that contradict each other, or say nothing.
 */
export function changeOf(flags: SaleFlags, now: number): EventChange {
  const at = (moment: Moment): number => ("at" in moment ? moment.at : now + moment.inMs);
  const entry = ({ when, ratePerMinute }: RateStep) => ({ at: at(when), ratePerMinute });
  const plan = [
    ...(flags.step ?? []).map(entry),
    ...(flags.ramp ?? []).map((step) => ({ ...entry(step), ramp: true })),
  ].toSorted((one, other) => one.at - other.at);
  const hasPlan = plan.length > 0;
  if (flags.endPlan && hasPlan)
    throw new CliFailure("--end-plan, or a new plan of --step and --ramp: not both.", EXIT.usage);
  const change: EventChange = {
    ratePerMinute: flags.rate,
    ratePlan: hasPlan ? plan : flags.endPlan ? [] : undefined,
    approximationBudget: flags.budget,
    overdrivePercent: flags.overdrive,
    horizonSeconds: flags.horizon,
    maxAdmissions: flags.maxAdmissions === "none" ? null : flags.maxAdmissions,
    endsAt: flags.endsAt === undefined ? undefined : at(flags.endsAt),
    notice: flags.notice,
    priceRange: flags.priceRange,
    tellLeft: flags.tellLeft,
    presence: flags.presence,
    bypass: flags.bypass,
    friction: flags.friction,
    looks: flags.looks,
    language: flags.language,
  };
  const said = Object.entries(change).filter(([, value]) => value !== undefined);
  if (said.length === 0)
    throw new CliFailure("Say what to change: --help has the options.", EXIT.usage);
  return Object.fromEntries(said);
}

const SPAN = /^\+(\d{1,6})(s|m|h)$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DATED = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** @throws Error for the library, which says of which option. */
export function momentOf(text: string): Moment {
  const [, amount, unit] = SPAN.exec(text) ?? [];
  if (amount !== undefined) return { inMs: Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS] };
  const at = DATED.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : NaN;
  if (Number.isNaN(at))
    throw new Error("a time like 2026-06-01T10:00Z or 2026-06-01T12:00+02:00, or +90s, +10m, +2h");
  return { at };
}

/** `Date.parse` takes the 31st of June for the 1st of July. */
function isDay(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

function stepOf(text: string): RateStep {
  const cut = text.lastIndexOf("=");
  if (cut < 0) throw new Error("a time and a rate, as in 2026-06-01T10:00Z=500 or +10m=500");
  return { when: momentOf(text.slice(0, cut)), ratePerMinute: wholeOf(text.slice(cut + 1)) };
}

/** What is in them is the mint's to judge, which names all mistakes at once. */
function rulesOf(text: string): BypassRule[] {
  const read = jsonOf(text);
  if (Array.isArray(read)) return read as BypassRule[];
  throw new Error('a list as JSON, like [{"paths":["/spring/hook"],"services":["payments"]}]');
}

/** As above. */
function objectOf(text: string): object {
  const read = jsonOf(text);
  if (typeof read === "object" && read !== null && !Array.isArray(read)) return read;
  throw new Error("an object as JSON, like {} for none");
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Bounds are the mint's, which names all mistakes at once. */
function wholeOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error("a whole number");
}
