/** The vars of the Worker, read once per isolate; every mistake is reported at once. */
import {
  LOCATION_CHARS_MAX,
  SKEW_SECONDS_DEFAULT,
  SKEW_SECONDS_MAX,
} from "@vestibule/contracts/limits";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import {
  KNOWN_HEADERS,
  KNOWN_HEADERS_DEFAULT,
  type KnownHeader,
  isKnownHeader,
} from "./proxy/known-headers.ts";
import { ORIGIN_DEADLINE_MS_DEFAULT, ORIGIN_DEADLINE_MS_MAX } from "./limits.ts";

/** What wrangler binds: text only. None is a secret (law 6). */
export interface EdgeEnv {
  /** Base addresses of the mints, separated by commas or spaces, the preferred one first. */
  readonly MINT_URLS?: string;
  /** Where admitted fans, and paths of no event, are forwarded to. */
  readonly ORIGIN_URL?: string;
  readonly PURCHASE_URL?: string;
  readonly ISSUER?: string;
  /** A JWKS as JSON: the public keys that this location is deployed with. */
  readonly JWKS?: string;
  readonly SKEW_SECONDS?: string | number;
  /** This location's name in health, logs and at the mint; the network's own name for it when absent. */
  readonly LOCATION?: string;
  readonly ORIGIN_DEADLINE_MS?: string | number;
  /** `origin`: asked under the host of `ORIGIN_URL`, the default; `visitor`: under the visitor's. */
  readonly ORIGIN_HOST?: string;
  /** Names of the headers that tell the origin of the visitor, separated by commas or spaces. */
  readonly FORWARDED_HEADERS?: string;
  /**
   * `yes`: every request comes through a network that writes `CF-Connecting-IP` itself. Anything else may be the client's
   * word: `no`, the default, where bypass rules that name networks open nothing (ADR 18).
   */
  readonly TRUST_CLIENT_ADDRESS?: string;
}

export interface EdgeConfig {
  readonly mintUrls: readonly string[];
  /** No trailing slash. */
  readonly originUrl: string;
  readonly purchaseUrl: string | undefined;
  readonly issuer: string;
  /** A JWKS, not looked at yet. */
  readonly bootKeys: unknown;
  readonly skewSeconds: number;
  readonly location: string;
  readonly originDeadlineMs: number;
  readonly originHost: "origin" | "visitor";
  readonly knownHeaders: readonly KnownHeader[];
  readonly trustsClientAddress: boolean;
}

/**
 * Refuses with one line per mistake; no line repeats a value.
 * @param colo the network's name for this location (`request.cf.colo`), where it says one
 */
export function readConfig(env: EdgeEnv, colo?: unknown): Result<EdgeConfig, readonly string[]> {
  const mistakes: string[] = [];
  const mintUrls = (env.MINT_URLS ?? "").split(/[\s,]+/).filter((url) => url !== "");
  if (mintUrls.length === 0) mistakes.push("MINT_URLS: the address of at least one mint is needed");
  if (mintUrls.length > 8) mistakes.push("MINT_URLS: at most 8");
  const mints = mintUrls.map((url) => baseUrl("MINT_URLS", url, mistakes));
  const originUrl = baseUrl("ORIGIN_URL", env.ORIGIN_URL, mistakes);
  const purchaseUrl =
    env.PURCHASE_URL === undefined || env.PURCHASE_URL === ""
      ? undefined
      : baseUrl("PURCHASE_URL", env.PURCHASE_URL, mistakes);
  const issuer = env.ISSUER ?? "";
  if (issuer === "") mistakes.push("ISSUER: the `iss` of the mint's tokens is needed");
  const skewSeconds = whole(
    { name: "SKEW_SECONDS", value: env.SKEW_SECONDS, fallback: SKEW_SECONDS_DEFAULT },
    { min: 0, max: SKEW_SECONDS_MAX, mistakes },
  );
  const originDeadlineMs = whole(
    {
      name: "ORIGIN_DEADLINE_MS",
      value: env.ORIGIN_DEADLINE_MS,
      fallback: ORIGIN_DEADLINE_MS_DEFAULT,
    },
    { min: 100, max: ORIGIN_DEADLINE_MS_MAX, mistakes },
  );
  const originHost = env.ORIGIN_HOST === "visitor" ? "visitor" : "origin";
  if (!["", "origin", "visitor"].includes(env.ORIGIN_HOST ?? "")) {
    mistakes.push("ORIGIN_HOST: `origin` or `visitor` is needed");
  }
  const knownHeaders = headerNames(env.FORWARDED_HEADERS, mistakes);
  if (!["", "yes", "no"].includes(env.TRUST_CLIENT_ADDRESS ?? "")) {
    mistakes.push("TRUST_CLIENT_ADDRESS: `yes` or `no` is needed");
  }
  const trustsClientAddress = env.TRUST_CLIENT_ADDRESS === "yes";
  const bootKeys = json(env.JWKS, mistakes);
  if (mistakes.length > 0) return refuse(mistakes);
  const location = nameOf(env.LOCATION) ?? nameOf(colo) ?? "unnamed";
  return ok({
    ...{ mintUrls: mints, originUrl, purchaseUrl, issuer, bootKeys },
    ...{ skewSeconds, location, originDeadlineMs, originHost, knownHeaders },
    trustsClientAddress,
  });
}

/** As `locationSchema` takes it; `undefined` when nothing of it can be. */
function nameOf(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  const name = text.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return name === "" ? undefined : name.slice(0, LOCATION_CHARS_MAX);
}

function baseUrl(name: string, value: string | undefined, mistakes: string[]): string {
  try {
    const url = new URL(value ?? "");
    const isOpen = url.username === "" && url.password === "";
    const plain = url.search === "" && url.hash === "" && isOpen;
    if ((url.protocol === "https:" || url.protocol === "http:") && plain) {
      return url.href.replace(/\/+$/, "");
    }
  } catch {
    // reported below
  }
  mistakes.push(`${name}: an http or https address without query and password is needed`);
  return "";
}

function whole(
  setting: { name: string; value: string | number | undefined; fallback: number },
  bounds: { min: number; max: number; mistakes: string[] },
): number {
  const { name, value, fallback } = setting;
  if (value === undefined || value === "") return fallback;
  const text = String(value);
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= bounds.min && number <= bounds.max) return number;
  bounds.mistakes.push(`${name}: a whole number from ${bounds.min} to ${bounds.max} is needed`);
  return fallback;
}

/** `none` for none at all. */
function headerNames(value: string | undefined, mistakes: string[]): readonly KnownHeader[] {
  const names = (value ?? "")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((name) => name !== "");
  if (names.length === 0) return KNOWN_HEADERS_DEFAULT;
  if (names.length === 1 && names[0] === "none") return [];
  const known = [...new Set(names)].filter(isKnownHeader);
  if (names.every(isKnownHeader)) return known;
  mistakes.push(`FORWARDED_HEADERS: \`none\`, or some of ${KNOWN_HEADERS.join(", ")}, are needed`);
  return known;
}

function json(value: string | undefined, mistakes: string[]): unknown {
  if (value === undefined || value.trim() === "") return undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    mistakes.push("JWKS: JSON is needed");
    return undefined;
  }
}
