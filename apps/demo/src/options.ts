/** What stands on the command line of `pnpm start`. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { PRESENCES, type Presence } from "@vestibule/contracts/event-settings";
import {
  HORIZON_SECONDS_MAX,
  HORIZON_SECONDS_MIN,
  LIFETIME_SECONDS_MAX,
  LIFETIME_SECONDS_MIN,
  RATE_PER_MINUTE_MAX,
  RATE_PER_MINUTE_MIN,
} from "@vestibule/contracts/limits";
import { type Result, ok, refuse } from "@vestibule/kernel/result";

/** An option that was not given is undefined: a sale that is there keeps what it has. */
export interface StartOptions {
  readonly fans: number | undefined;
  readonly ratePerMinute: number | undefined;
  readonly seats: number | undefined;
  readonly lifetimeSeconds: number | undefined;
  readonly horizonSeconds: number | undefined;
  readonly presence: Presence | undefined;
  readonly portBase: number | undefined;
  /** Absolute; undefined: `.vestibule` in the project. */
  readonly dataDir: string | undefined;
  /** Absolute. */
  readonly readyFile: string | undefined;
  readonly reset: boolean;
}

/**
 * Of a new sale. The first fans wait about a minute, and so does whoever opens the link: long
 * enough to see the line, short enough to stay. Two seats a second would be gone after a minute
 * or two with a small house, so that there are enough for a quarter of an hour.
 */
export const DEFAULTS = {
  fans: 150,
  ratePerMinute: 120,
  seats: 2_000,
  lifetimeSeconds: 300,
  horizonSeconds: 20,
  presence: "auto",
  portBase: 8_787,
} as const;

/** The edge has port P, the mint P+1, the purchase API P+2, the console P+3, the shop P+4. */
export const PORTS_SPAN = 4;
const FANS_MAX = 20_000;
const SEATS_MAX = 1_000_000;

const NUMBERS = {
  fans: { min: 0, max: FANS_MAX, what: "fans" },
  rate: { min: RATE_PER_MINUTE_MIN, max: RATE_PER_MINUTE_MAX, what: "fans let in per minute" },
  seats: { min: 1, max: SEATS_MAX, what: "seats" },
  lifetime: { min: LIFETIME_SECONDS_MIN, max: LIFETIME_SECONDS_MAX, what: "seconds" },
  horizon: { min: HORIZON_SECONDS_MIN, max: HORIZON_SECONDS_MAX, what: "seconds" },
  "port-base": { min: 1, max: 65_535 - PORTS_SPAN, what: "a port number" },
} as const;
const TEXTS: ReadonlySet<string> = new Set(["presence", "data", "ready-file"]);
type NumberName = keyof typeof NUMBERS;

export const HELP = `Starts a whole sale on this machine: PostgreSQL, mint, purchase API, demo shop, the edge, and a crowd.

  npx -y pnpm@12 start [options]

  --fans N              fans in the first rush; later ones keep the line alive (${DEFAULTS.fans}; 0: no crowd)
  --rate PER_MINUTE     how many are let in per minute (${DEFAULTS.ratePerMinute})
  --seats N             seats on sale (${DEFAULTS.seats})
  --lifetime S          how long a fan who is in may buy, in seconds (${DEFAULTS.lifetimeSeconds})
  --horizon S           how far ahead turns are fixed, in seconds (${DEFAULTS.horizonSeconds})
  --presence MODE       auto: fans go in by themselves; confirm: they are asked whether they are there (${DEFAULTS.presence})
  --data DIR            where the data rest (.vestibule in the project)
  --reset               forget the data and begin anew
  --port-base P         edge P, mint P+1, purchase P+2, (P+3 is kept for a console), shop P+4 (${DEFAULTS.portBase})
  --ready-file PATH     write a JSON file with all addresses when everything answers
  --help                this text

Ctrl-C stops everything. The next start goes on with the same data; an option that is not given keeps
the value of the sale that is there, also when that one is over and a new one follows it.

Environment:
  VALKEY_URL                 the Valkey or Redis for limits and seat counter; without it one of this machine
                             is started (valkey-server or redis-server on PATH), or the purchase API counts itself
  INVENTORY_GATE_ENABLED, TRUST_PROXY_HOPS, VALKEY_DEADLINE_MS    handed on to the purchase API (docs/operating.md)
`;

/**
 * Reads the arguments; every mistake is named at once.
 *
 * @param directory what a relative path is relative to.
 */
export function readOptions(
  args: readonly string[],
  directory: string,
): Result<StartOptions | "help", readonly string[]> {
  // `pnpm start -- --fans 5` hands the two dashes on.
  const own = args[0] === "--" ? args.slice(1) : args;
  const mistakes: string[] = [];
  const values = new Map<string, string>();
  const { tokens } = parseArgs({
    args: [...own],
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      [...Object.keys(NUMBERS), ...TEXTS].map((name) => [name, { type: "string" as const }]),
    ),
  });
  for (const token of tokens) {
    if (token.kind === "positional") mistakes.push(`"${token.value}" is not an option.`);
    if (token.kind !== "option") continue;
    const mistake = take(token.name, token.rawName, token.value, values);
    if (mistake !== undefined) mistakes.push(mistake);
  }
  if (values.has("help")) return ok("help");
  const number = (name: NumberName): number | undefined => {
    const text = values.get(name);
    if (text === undefined) return undefined;
    const { min, max, what } = NUMBERS[name];
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    mistakes.push(`--${name} takes ${what}, a whole number from ${min} to ${max}, not "${text}".`);
    return undefined;
  };
  const path = (name: string): string | undefined => {
    const text = values.get(name);
    return text === undefined ? undefined : resolve(directory, text);
  };
  const presence = PRESENCES.find((word) => word === values.get("presence"));
  if (presence === undefined && values.has("presence")) {
    mistakes.push(`--presence takes auto or confirm, not "${values.get("presence")}".`);
  }
  const options: StartOptions = {
    fans: number("fans"),
    ratePerMinute: number("rate"),
    seats: number("seats"),
    lifetimeSeconds: number("lifetime"),
    horizonSeconds: number("horizon"),
    presence,
    portBase: number("port-base"),
    dataDir: path("data"),
    readyFile: path("ready-file"),
    reset: values.has("reset"),
  };
  return mistakes.length === 0 ? ok(options) : refuse(mistakes);
}

/** The command that somebody typed, with other ports: a hint to copy. */
export function commandWith(args: readonly string[], portBase: number | "P"): string {
  const own = args[0] === "--" ? args.slice(1) : args;
  const kept = own.filter(
    (word, index) => !/^--port-base(?:=|$)/.test(word) && own[index - 1] !== "--port-base",
  );
  return ["npx -y pnpm@12 start", ...kept.map(quoted), `--port-base ${portBase}`].join(" ");
}

/** As a POSIX shell reads it back. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function take(
  name: string,
  rawName: string,
  value: string | undefined,
  into: Map<string, string>,
): string | undefined {
  const flag = name === "reset" || name === "help" || name === "h";
  const known = flag || name in NUMBERS || TEXTS.has(name);
  if (!known) return `${rawName} is not an option.`;
  if (flag && value !== undefined) return `${rawName} takes no value.`;
  if (!flag && (value === undefined || value === "")) return `${rawName} needs a value.`;
  const key = name === "h" ? "help" : name;
  if (into.has(key) && !flag) return `${rawName} is given twice.`;
  into.set(key, value ?? "");
  return undefined;
}
