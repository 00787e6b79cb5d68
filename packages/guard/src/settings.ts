/** What the shop configured, read once: wrong use is a `TypeError` at start, never a surprise at the checkout. */
import { SKEW_SECONDS_DEFAULT, SKEW_SECONDS_MAX } from "@vestibule/contracts/limits";
import { isSlug } from "@vestibule/contracts/slug";
import { MINT_URLS_MAX } from "@vestibule/feed/limits";
import {
  EVENTS_NAMED_MAX,
  SPEND_DEADLINE_MS_DEFAULT,
  SPEND_DEADLINE_MS_MAX,
  SPEND_DEADLINE_MS_MIN,
} from "./limits.ts";
import { httpBase } from "./platform.ts";
import type { GuardOptions } from "./types.ts";

export interface Settings {
  readonly mintUrls: readonly string[];
  readonly issuer: string;
  /** None: each check names its own. */
  readonly events: readonly string[];
  readonly purchaseUrl: string | undefined;
  readonly shopToken: string | undefined;
  readonly skewSeconds: number;
  readonly spendDeadlineMs: number;
}

const NAMES: ReadonlySet<string> = new Set<keyof GuardOptions>([
  ...(["mintUrls", "issuer", "event", "purchaseUrl", "skewSeconds"] as const),
  ...(["shopToken", "spendDeadlineMs", "onAlarm", "fetch", "now"] as const),
]);

/** What the purchase API takes for one. */
const SHOP_TOKEN = /^[\x21-\x7e]{32,1024}$/;

/** @throws TypeError that names every mistake; values are not repeated. */
export function readSettings(options: GuardOptions): Settings {
  const mistakes: string[] = [];
  const must = (holds: boolean, what: string): void => {
    if (!holds) mistakes.push(what);
  };
  for (const name of Object.keys(options)) {
    must(NAMES.has(name), `there is no option \`${name}\``);
  }
  for (const name of ["onAlarm", "fetch", "now"] as const) {
    must(["undefined", "function"].includes(typeof options[name]), `${name} is a function`);
  }

  const mintUrls = listOf(options.mintUrls).map(httpBase);
  must(mintUrls.length >= 1 && mintUrls.length <= MINT_URLS_MAX, `1 to ${MINT_URLS_MAX} mintUrls`);
  must(!mintUrls.includes(undefined), "mintUrls are http or https addresses without a query");
  const { issuer } = options;
  must(typeof issuer === "string" && issuer !== "", "issuer is the `iss` of the mint's tokens");
  const events = listOf(options.event ?? []);
  must(events.length <= EVENTS_NAMED_MAX, `at most ${EVENTS_NAMED_MAX} events`);
  must(events.every(isEventName), "event is the name of a sale, or several");
  const purchaseUrl = httpBase(options.purchaseUrl);
  must(
    options.purchaseUrl === undefined || purchaseUrl !== undefined,
    "purchaseUrl is an http or https address without a query",
  );
  const { shopToken } = options;
  must(
    shopToken === undefined || (typeof shopToken === "string" && SHOP_TOKEN.test(shopToken)),
    "shopToken has 32 or more visible ASCII characters",
  );
  const skewSeconds = options.skewSeconds ?? SKEW_SECONDS_DEFAULT;
  must(
    isWhole(skewSeconds, { min: 0, max: SKEW_SECONDS_MAX }),
    `skewSeconds is a whole number from 0 to ${SKEW_SECONDS_MAX}`,
  );
  const spendDeadlineMs = options.spendDeadlineMs ?? SPEND_DEADLINE_MS_DEFAULT;
  must(
    isWhole(spendDeadlineMs, { min: SPEND_DEADLINE_MS_MIN, max: SPEND_DEADLINE_MS_MAX }),
    `spendDeadlineMs is a whole number from ${SPEND_DEADLINE_MS_MIN} to ${SPEND_DEADLINE_MS_MAX}`,
  );
  if (mistakes.length > 0) throw new TypeError(`createGuard: ${mistakes.join("; ")}`);
  return {
    mintUrls: mintUrls.filter((url) => url !== undefined),
    ...{ issuer, events, purchaseUrl, shopToken, skewSeconds, spendDeadlineMs },
  };
}

export function isEventName(value: unknown): value is string {
  return typeof value === "string" && isSlug(value);
}

function listOf(value: string | readonly string[]): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [value as string];
}

function isWhole(value: unknown, { min, max }: { min: number; max: number }): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}
