/**
 * Names of properties that stay within the page's script: they are written short in it, which is some 300 bytes of a
 * compressed page. A name that others know as well would break it: with such a one this file does not compile. One that the
 * script has not, or that a text has as a placeholder, is refused when the page is built.
 */
import type { Refusal } from "@vestibule/client/line-client";
import type {
  EdgeClaimAnswer,
  EdgeClaimRequest,
  EdgeJoinAnswer,
} from "@vestibule/contracts/line-api";
import type { DripView } from "@vestibule/contracts/statements";
import type { PageData } from "../src/page/markup.ts";
import type { FORMS } from "../src/page/client/listen.browser.ts";
import type { Proving } from "../src/page/client/prove/main.ts";
import type { Texts } from "../src/page/texts.ts";

export const OWN_NAMES = [
  "about",
  "advise",
  "advisedMs",
  "aheadMost",
  "asks",
  "atLeast",
  "atOnce",
  "behind",
  "between",
  "category",
  "claim",
  "claimBy",
  "claimWindowMs",
  "counter",
  "drip",
  "effort",
  "eta",
  "facts",
  "failed",
  "failures",
  "forget",
  "formats",
  "fromMs",
  "goBack",
  "heard",
  "heardAt",
  "inMs",
  "inside",
  "isBusy",
  "isCreditUsed",
  "isHidden",
  "isLost",
  "isOnline",
  "isPassed",
  "isSet",
  "isShut",
  "isSure",
  "isThere",
  "isUrgent",
  "joined",
  "jumped",
  "kept",
  "lapsed",
  "lastCallInMs",
  "later",
  "leaves",
  "lengthOfTime",
  "nextMs",
  "offer",
  "over",
  "owe",
  "prove",
  "quickly",
  "receivedAt",
  "retryAfterMs",
  "retryMs",
  "runOnce",
  "saidFor",
  "shell",
  "soon",
  "soonestMs",
  "startTimer",
  "stay",
  "stood",
  "stopTimer",
  "tell",
  "texts",
  "ticks",
  "told",
  "untilMs",
  "untilTurnMs",
  "wake",
  "words",
] as const;

/** The names of all members of a value that comes in or goes out as JSON. */
type NamesIn<Json> = Json extends readonly (infer Item)[]
  ? NamesIn<Item>
  : Json extends object
    ? Named<Json> | NamesIn<Json[keyof Json]>
    : never;

/** Of the page's data and texts, and of what is asked and answered; of a refusal, what is not the line client's own. */
type OnTheWire =
  | NamesIn<PageData | Texts | DripView>
  | NamesIn<EdgeJoinAnswer | EdgeClaimRequest | EdgeClaimAnswer>
  | NamesIn<Omit<Refusal, "retryAfterMs">>;

/** Found by a text: the name of a form; what one script lends the other. */
type ByName = (typeof FORMS)[number] | keyof Proving;

/** Without the signatures of indices, which are any name. */
type Named<T> = keyof { [Name in keyof T as string extends Name ? never : Name]: T[Name] };
type Globals = typeof globalThis;
/** Static members and those of instances. */
type Members<Namespace> = {
  [Name in keyof Namespace]:
    | Named<Namespace[Name]>
    | (Namespace[Name] extends { readonly prototype: infer Instance } ? Named<Instance> : never);
}[keyof Namespace];

/** Of JavaScript and of browsers: globals, their members, and options. */
type OfBrowsers =
  | keyof Globals
  | keyof typeof Intl
  | Members<Omit<Globals, "globalThis">>
  | Members<typeof Intl>
  | keyof (RequestInit & Intl.DateTimeFormatOptions & Intl.NumberFormatOptions);

type Shared<Name extends string> = Extract<Name, OnTheWire | ByName | OfBrowsers>;
/** Compiles only where there is none. */
type None<Clash extends never> = Clash;
export type Clash = None<Shared<(typeof OWN_NAMES)[number]>>;
export type Caught = [
  // @ts-expect-error known to others: in the page's data, and in answers
  None<Shared<"opensAt">>,
  // @ts-expect-error known to others: one of the page's texts
  None<Shared<"titlePlace">>,
  // @ts-expect-error known to others: forms are called so
  None<Shared<"leave">>,
  // @ts-expect-error known to others: elements have it
  None<Shared<"textContent">>,
];
