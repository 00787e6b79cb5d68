/** The environment, read once; every mistake is named at once, and no value is repeated. */
import {
  ConfigError,
  type Config,
  httpBase,
  list,
  optional,
  optionalSecret,
  readConfig,
  required,
  requiredSecret,
  secret,
  type Variables,
} from "@vestibule/service/env";
import type { Secret } from "@vestibule/service/secret";
import { CliFailure, EXIT } from "./failure.ts";
import { EDGES_MAX } from "./limits.ts";
import type { Platform } from "./platform.ts";
import { oneLine } from "./terminal/words.ts";

export const VARIABLES = {
  mint: "VESTIBULE_MINT_URL",
  token: "VESTIBULE_ADMIN_TOKEN",
  edges: "VESTIBULE_EDGE_URLS",
} as const;

const TOKEN_FILE = `${VARIABLES.token}_FILE`;
const TOKEN_CHARS_MIN = 32;
const token = secret({ charsMin: TOKEN_CHARS_MIN });
const PUBLIC = {
  mintUrl: required(VARIABLES.mint, httpBase()),
  edgeUrls: optional(VARIABLES.edges, list(httpBase(), { max: EDGES_MAX }), []),
  adminToken: optionalSecret(VARIABLES.token, token),
} satisfies Variables;
const ADMIN = { ...PUBLIC, adminToken: requiredSecret(VARIABLES.token, token) } satisfies Variables;

export interface Settings {
  readonly mintUrl: string;
  readonly adminToken: Secret | undefined;
  readonly edgeUrls: readonly string[];
}

export interface SettingsOptions {
  /** Also where somebody else could listen. */
  readonly insecureHttp: boolean;
  /** False: what is asked is public. */
  readonly isAdmin: boolean;
  /** In place of those of the environment, when there are any. */
  readonly edgeUrls?: readonly string[];
}

/** @throws CliFailure that names every mistake. */
export function readSettings(
  platform: Pick<Platform, "environment" | "readFile">,
  { insecureHttp, isAdmin, edgeUrls = [] }: SettingsOptions,
): Settings {
  const mistakes: string[] = [];
  const given = ownVariables(platform.environment);
  if (edgeUrls.length > 0) given[VARIABLES.edges] = edgeUrls.join(",");
  let read: Config<typeof PUBLIC> | undefined;
  try {
    read = readConfig(isAdmin ? ADMIN : PUBLIC, given, platform.readFile);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    mistakes.push(...error.mistakes.map((mistake) => explained(mistake, given)));
  }
  // Looked at as they are, so that this is said beside every other mistake.
  const edges = given[VARIABLES.edges]?.split(",") ?? [];
  const named = [
    [VARIABLES.mint, [given[VARIABLES.mint] ?? ""]],
    [edgeUrls.length > 0 ? "--edge" : VARIABLES.edges, edges],
  ] as const;
  for (const [name, urls] of named) {
    if (insecureHttp || !urls.some((url) => isOpenToOthers(url.trim()))) continue;
    mistakes.push(
      `${name}: plain http to another machine shows everything to whoever listens; use https, or --insecure-http`,
    );
  }
  if (mistakes.length > 0 || read === undefined) throw settingsFailure(mistakes);
  return read;
}

/** With what helps whoever sees this for the first time. */
function explained(mistake: string, given: Readonly<Record<string, string | undefined>>): string {
  if (mistake === `${VARIABLES.mint} is required`)
    return `${mistake}, for example http://localhost:8788`;
  const path = given[TOKEN_FILE] ?? "";
  if (!mistake.startsWith(`${TOKEN_FILE} names a file`) || mayBeToken(path)) return mistake;
  return `${mistake}: ${oneLine(path)}`;
}

/** Somebody has put the token itself where its path belongs: that is not repeated. */
function mayBeToken(text: string): boolean {
  return text.length >= TOKEN_CHARS_MIN && !/^(?:\/|\.|~)/.test(text);
}

function settingsFailure(mistakes: readonly string[]): CliFailure {
  const lines = mistakes.map((line) => `  ${line}`).join("\n");
  return new CliFailure(`The environment has mistakes:\n${lines}`, EXIT.usage, { mistakes });
}

/**
 * Whoever works on a mint's machine has its variables set as well: those are not ours to judge. What begins like one
 * of ours and is none is a slip of the pen.
 */
function ownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const near = ["VESTIBULE_EDGE", VARIABLES.token, `${VARIABLES.mint}_`];
  const isOurs = (name: string): boolean =>
    name === VARIABLES.mint || near.some((beginning) => name.startsWith(beginning));
  return Object.fromEntries(
    Object.entries(environment)
      .filter(([name, value]) => isOurs(name) && value !== undefined && value !== "")
      .map(([name, value = ""]) => [
        name,
        // A base address ends without a slash, however it was typed.
        name.includes("_URL") ? value.replaceAll(/\/+(?=\s*(?:,|$))/g, "") : value,
      ]),
  );
}

/** Plain http beyond this machine. */
function isOpenToOthers(text: string): boolean {
  const url = URL.parse(text);
  if (url?.protocol !== "http:") return false;
  const { hostname } = url;
  return !(
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}
