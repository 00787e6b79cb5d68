/** What an organizer sets for one event. Read by the mint's admin API; parts travel in the manifest. */
import * as z from "zod/mini";
import {
  APPROXIMATION_BUDGET_MAX,
  CLAIM_WINDOW_SECONDS_DEFAULT,
  CLAIM_WINDOW_SECONDS_MAX,
  CLAIM_WINDOW_SECONDS_MIN,
  HORIZON_SECONDS_DEFAULT,
  HORIZON_SECONDS_MAX,
  HORIZON_SECONDS_MIN,
  LAST_CALL_SECONDS_DEFAULT,
  LAST_CALL_SECONDS_MAX,
  LIFETIME_SECONDS_DEFAULT,
  LIFETIME_SECONDS_MAX,
  LIFETIME_SECONDS_MIN,
  NETWORKS_PER_RULE_MAX,
  NOTICE_CHARS_MAX,
  OVERDRIVE_PERCENT_DEFAULT,
  OVERDRIVE_PERCENT_MAX,
  OVERDRIVE_PERCENT_MIN,
  PRICE_RANGE_CHARS_MAX,
  PROOF_OF_WORK_BITS_MAX,
  RATE_PER_MINUTE_MAX,
  RATE_PER_MINUTE_MIN,
  RATE_PLAN_ENTRIES_MAX,
  ROUTES_PER_EVENT_MAX,
  ROUTE_CHARS_MAX,
  SERVICES_PER_RULE_MAX,
  TITLE_CHARS_MAX,
} from "./limits.ts";
import { looksSchema } from "./looks.ts";
import { LANGUAGES } from "./languages.ts";
import { NETWORK_BITS_MIN, NETWORK_CHARS_MAX, isNarrow, parseNetwork } from "./network.ts";
import { isOneLine } from "./one-line.ts";
import { slugSchema } from "./slug.ts";

const whole = (minimum: number, maximum: number) => z.int().check(z.gte(minimum), z.lte(maximum));

/** A moment, epoch milliseconds. The upper bound is the year 9999. */
const moment = whole(0, 253_402_300_799_999);

/** One line of well-formed text: no control characters, no half of a character cut in two. */
const line = (charsMax: number) =>
  z
    .string()
    .check(
      z.maxLength(charsMax),
      z.refine(
        isOneLine,
        "Must be one line of text, without characters that control its direction",
      ),
    );

/**
 * `example.com` or `localhost:8787`: lower case, as a browser sends it, so without the scheme's own port
 * and with all four parts of an IPv4 address.
 */
const host = z.string().check(
  z.maxLength(ROUTE_CHARS_MAX),
  z.regex(
    /^(?:(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]*[a-z0-9])?|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/,
    "Must be a host as a browser sends it, like tickets.example or localhost:8787: lower case, no scheme, no path",
  ),
  z.refine((text) => !/[^:]:(?:80|443)$/.test(text), "Leave out the scheme's own port"),
);

/** Characters of a normal path; other than ASCII as upper-case escapes of UTF-8. No `;`: servers split there. */
const PATH_TEXT = "(?:[A-Za-z0-9\\-._~!$&'()+,=:@]|%[89A-F][0-9A-F])+";
/** In normal form: what is matched is, so anything else would protect nothing. */
const normal = () =>
  z.refine<string>(
    (text) => !/\/\/|\/\.{1,2}(?:\/|$)/.test(text),
    "Must be a path without // and dot segments",
  );

/**
 * A path pattern: exact (`/checkout`), or everything below (`/events/spring*`: a `*` only at the end).
 * Matched, case-sensitively, after the one normalization of the edge.
 */
const pathPattern = z
  .string()
  .check(
    z.maxLength(ROUTE_CHARS_MAX),
    z.regex(
      new RegExp(`^(?:/(?:${PATH_TEXT})?)+\\*?$`),
      "Must be a path from its / on, like /spring or /spring/*, escaped as in a URL and without a query",
    ),
    normal(),
  );

/** A same-origin path to return to. */
const path = z
  .string()
  .check(
    z.maxLength(ROUTE_CHARS_MAX),
    z.regex(
      new RegExp(`^(?:/(?:${PATH_TEXT})?)+$`),
      "Must be a path from its / on, like /spring, escaped as in a URL and without a query",
    ),
    normal(),
  );

const network = z.string().check(
  z.maxLength(NETWORK_CHARS_MAX),
  z.refine(
    (text) => parseNetwork(text) !== undefined,
    "Must be a network like 192.0.2.0/24 or 2001:db8::/32, with no bits beyond its prefix",
  ),
  z.refine((text) => {
    const read = parseNetwork(text);
    return read === undefined || isNarrow(read);
  }, `Is no condition: /${NETWORK_BITS_MIN.ipv4} or narrower of IPv4, /${NETWORK_BITS_MIN.ipv6} or narrower of IPv6`),
);

/** What it names must all hold: a path, a method, a network, a service. What it does not name may be anything (ADR 18). */
const bypassRule = z.strictObject({
  paths: z.array(pathPattern).check(z.minLength(1), z.maxLength(ROUTES_PER_EVENT_MAX)),
  /** Upper-case methods; every method when absent. */
  methods: z.optional(
    z.array(z.string().check(z.regex(/^[A-Z]{1,16}$/))).check(z.minLength(1), z.maxLength(16)),
  ),
  /** The client's address is in one of them. */
  networks: z.optional(z.array(network).check(z.minLength(1), z.maxLength(NETWORKS_PER_RULE_MAX))),
  /** Names of services: one of them shows its token (`vst-service+jwt`). */
  services: z.optional(
    z.array(slugSchema).check(z.minLength(1), z.maxLength(SERVICES_PER_RULE_MAX)),
  ),
});
export type BypassRule = z.infer<typeof bypassRule>;
const bypassRules = z.array(bypassRule).check(z.maxLength(ROUTES_PER_EVENT_MAX));

export const PRESENCES = ["auto", "confirm"] as const;
export type Presence = (typeof PRESENCES)[number];
const presence = z.enum(PRESENCES);

const friction = z.strictObject({
  /** Whether locations limit joins by network and claims by place; absent: they do, where the platform lends them a limiter. */
  limit: z.optional(z.boolean()),
  /** Work before a new place: leading zero bits of a hash. Absent or 0: none. Each one doubles the work. */
  proofOfWorkBits: z.optional(whole(0, PROOF_OF_WORK_BITS_MAX)),
});

const rate = whole(RATE_PER_MINUTE_MIN, RATE_PER_MINUTE_MAX);

/** The rate from `at` on; with `ramp` it moves evenly from there to that of the next entry. */
const rateEntry = z.strictObject({
  at: moment,
  ratePerMinute: rate,
  ramp: z.optional(z.boolean()),
});

const ratePlan = z.array(rateEntry).check(
  z.maxLength(RATE_PLAN_ENTRIES_MAX),
  // Also beside other mistakes, so that all are named at once.
  z.superRefine(inOrder, { when: ({ value }) => Array.isArray(value) }),
);

/** Names each entry that is out of order, and a ramp to nowhere. An entry may be anything. */
function inOrder(
  entries: readonly ({ readonly at?: unknown; readonly ramp?: unknown } | null)[],
  context: z.core.$RefinementCtx,
): void {
  const wrong = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: "custom", path, message, input: entries });
  entries.forEach((entry, index) => {
    const [before, at] = [entries[index - 1]?.at, entry?.at];
    if (typeof at === "number" && typeof before === "number" && at <= before)
      wrong([index, "at"], "Must be after the entry before");
  });
  if (entries.at(-1)?.ramp === true) {
    wrong([entries.length - 1, "ramp"], "The last entry has none to move to");
  }
}

const shape = {
  title: line(TITLE_CHARS_MAX).check(z.minLength(1)),
  /** Slots per minute of open sale, before the first entry of `ratePlan` and where there is none. */
  ratePerMinute: rate,
  /** Dated steps and ramps of the rate, ascending in time. */
  ratePlan: z._default(ratePlan, []),
  /** Slots that may open beyond the rate, to make up for time in which nothing was committed; 0: none. */
  approximationBudget: z._default(whole(0, APPROXIMATION_BUDGET_MAX), 0),
  lifetimeSeconds: z._default(
    whole(LIFETIME_SECONDS_MIN, LIFETIME_SECONDS_MAX),
    LIFETIME_SECONDS_DEFAULT,
  ),
  /** Shortened to the lifetime when it is longer. */
  claimWindowSeconds: z._default(
    whole(CLAIM_WINDOW_SECONDS_MIN, CLAIM_WINDOW_SECONDS_MAX),
    CLAIM_WINDOW_SECONDS_DEFAULT,
  ),
  horizonSeconds: z._default(
    whole(HORIZON_SECONDS_MIN, HORIZON_SECONDS_MAX),
    HORIZON_SECONDS_DEFAULT,
  ),
  overdrivePercent: z._default(
    whole(OVERDRIVE_PERCENT_MIN, OVERDRIVE_PERCENT_MAX),
    OVERDRIVE_PERCENT_DEFAULT,
  ),
  /** No more slots than this that were not given back; `null`: no bound. */
  maxAdmissions: z._default(z.nullable(whole(1, Number.MAX_SAFE_INTEGER)), null),
  /** From when numbers are given; absent: from `startsAt`. */
  joinableAt: z.optional(moment),
  /** From when the drip runs; absent: at once. */
  startsAt: z.optional(moment),
  /** The event's end: the `exp` of its tickets. */
  endsAt: moment,
  /** A line of text for everybody who waits. */
  notice: z._default(line(NOTICE_CHARS_MAX), ""),
  hosts: z.array(host).check(z.minLength(1), z.maxLength(ROUTES_PER_EVENT_MAX)),
  paths: z.array(pathPattern).check(z.minLength(1), z.maxLength(ROUTES_PER_EVENT_MAX)),
  bypass: z._default(bypassRules, []),
  /** Where a fan goes when it is their turn and they came without a return path. */
  homePath: path,
  /** Status of the holding page for a page view. */
  holdingStatus: z._default(z.literal([200, 429, 503]), 200),
  /** No sale, but what drills are held with: over by its time, it goes on once `endsAt` is moved. */
  rehearsal: z.optional(z.boolean()),
  /** For how long pages look about every second when little is left (`lastCall` of the drip); 0: never. */
  lastCallSeconds: z._default(whole(0, LAST_CALL_SECONDS_MAX), LAST_CALL_SECONDS_DEFAULT),
  /**
   * `auto`: a page claims its turn by itself. `confirm`: a claim counts only with `confirmed: true`, which the page sends when its
   * fan has pressed "I'm here"; who does not is a no-show (ADR 14).
   */
  presence: z._default(presence, "auto"),
  /** No key takes over by schedule while this sale is on; absent: it may. */
  freezeKeys: z.optional(z.boolean()),
  /** `#rrggbb` */
  accent: z._default(
    z.string().check(z.regex(/^#[0-9a-f]{6}$/, "Must be a colour like #0b6e4f, in lower case")),
    "#0b6e4f",
  ),
  /** What the pieces cost, in the organizer's words and currency, for everybody who waits: "20–90 €". */
  priceRange: z._default(line(PRICE_RANGE_CHARS_MAX), ""),
  /** Whether those who wait are told how much is left, as a band. */
  tellLeft: z._default(z.boolean(), true),
  /** Logo, colours, words and template of its own; absent or empty: none. */
  looks: z.optional(looksSchema),
  /** Of the page, for visitors whose browser asks for none that it has; absent: English. */
  language: z.optional(z.enum(LANGUAGES)),
  /** Friction at the edge, against abuse; absent: limits, and no proof of work. */
  friction: z.optional(friction),
};

/** The body of `POST /v1/admin/events`. Unknown members are refused. */
export const eventSettingsSchema = z.strictObject({ event: slugSchema, ...shape });
export type EventSettings = z.infer<typeof eventSettingsSchema>;

/**
 * The body of `PATCH /v1/admin/events/{event}`, and of its preview: what may change while the sale runs.
 * `ratePerMinute` alone ends a plan: it holds until somebody says otherwise. `ratePlan` alone: until its first entry
 * the rate stays what it is.
 */
export const eventChangeSchema = z.partial(
  z.strictObject({
    ratePerMinute: shape.ratePerMinute,
    ratePlan,
    approximationBudget: whole(0, APPROXIMATION_BUDGET_MAX),
    /** Not less than before. */
    horizonSeconds: whole(HORIZON_SECONDS_MIN, HORIZON_SECONDS_MAX),
    overdrivePercent: whole(OVERDRIVE_PERCENT_MIN, OVERDRIVE_PERCENT_MAX),
    title: shape.title,
    notice: line(NOTICE_CHARS_MAX),
    maxAdmissions: z.nullable(whole(1, Number.MAX_SAFE_INTEGER)),
    endsAt: moment,
    lastCallSeconds: whole(0, LAST_CALL_SECONDS_MAX),
    presence,
    freezeKeys: z.boolean(),
    priceRange: line(PRICE_RANGE_CHARS_MAX),
    tellLeft: z.boolean(),
    /** As a whole: what it leaves out is none. */
    looks: looksSchema,
    language: z.enum(LANGUAGES),
    /** All rules anew; every location goes by them within `REVOCATION_SECONDS_MAX`. */
    bypass: bypassRules,
    /** As a whole: what it leaves out is as if it had never been set. */
    friction,
  }),
);
export type EventChange = z.infer<typeof eventChangeSchema>;

/**
 * The body of `POST /v1/admin/events/{event}/hold`; `reason` is said to everybody who waits. What is absent stays as it is when the event is held
 * already, so that a second press loosens nothing; else scope `entries`, no reason.
 */
export const holdSchema = z.strictObject({
  scope: z.optional(z.enum(["entries", "all"])),
  reason: z.optional(line(NOTICE_CHARS_MAX)),
});
export type Hold = z.infer<typeof holdSchema>;
