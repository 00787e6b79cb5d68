import { SKEW_SECONDS_DEFAULT, SKEW_SECONDS_MAX } from "@vestibule/contracts/limits";
import { MINT_URLS_MAX } from "@vestibule/feed/limits";
import { TRUST_PROXY_HOPS_MAX } from "@vestibule/service/client-address";
import {
  type Config,
  flag,
  httpBase,
  json,
  list,
  optional,
  optionalSecret,
  port,
  postgresUrl,
  required,
  requiredSecret,
  sameSecrets,
  secret,
  text,
  wholeNumber,
} from "@vestibule/service/env";
import { Secret } from "@vestibule/service/secret";
import { parseStoreUrl } from "@vestibule/valkey/store-url";
import * as z from "zod/mini";
import { VALKEY_DEADLINE_MS } from "./limits.ts";

/** `10/1s`: a bucket of ten, to which one comes back every second. */
export interface Allowance {
  readonly capacity: number;
  readonly refillMs: number;
}

/** The environment of the purchase API. */
export const VARIABLES = {
  host: optional("VESTIBULE_HOST", text({ charsMax: 255 }), "127.0.0.1"),
  port: required("VESTIBULE_PORT", port()),
  /** A database or schema (`?search_path=`) of its own. Also `VESTIBULE_DATABASE_URL_FILE`. */
  databaseUrl: requiredSecret("VESTIBULE_DATABASE_URL", postgresUrl()),
  databaseConnectionsMax: optional(
    "VESTIBULE_DATABASE_CONNECTIONS_MAX",
    wholeNumber({ min: 1, max: 500 }),
    10,
  ),
  /** The `iss` of every token and statement. */
  issuer: required("VESTIBULE_ISSUER", text({ charsMax: 255 })),
  /** Mints in the order of preference, separated by commas. */
  mintUrls: required("VESTIBULE_MINT_URLS", list(httpBase(), { max: MINT_URLS_MAX })),
  /** For the organizer's endpoints; no default. Also `VESTIBULE_ADMIN_TOKEN_FILE`. */
  adminToken: requiredSecret("VESTIBULE_ADMIN_TOKEN", secret({ charsMin: 32 })),
  /** A JWKS deployed along: purchases can be verified before a mint was reached. */
  bootKeys: optional("VESTIBULE_JWKS", json(), undefined),
  skewSeconds: optional(
    "VESTIBULE_SKEW_SECONDS",
    wholeNumber({ min: 0, max: SKEW_SECONDS_MAX }),
    SKEW_SECONDS_DEFAULT,
  ),

  /** Where limiter and gate live; without it in this process. May hold a password. Also `VALKEY_URL_FILE`. */
  valkeyUrl: optionalSecret("VALKEY_URL", valkeyUrl()),
  /** The longest that a call to Valkey may take before it counts as away. */
  valkeyDeadlineMs: optional(
    "VALKEY_DEADLINE_MS",
    wholeNumber({ min: VALKEY_DEADLINE_MS.min, max: VALKEY_DEADLINE_MS.max }),
    VALKEY_DEADLINE_MS.default,
  ),
  gateEnabled: optional("INVENTORY_GATE_ENABLED", flag(), true),
  /** Proxies before this service that append to `X-Forwarded-For`; 0: the header is not read. */
  trustProxyHops: optional(
    "TRUST_PROXY_HOPS",
    wholeNumber({ min: 0, max: TRUST_PROXY_HOPS_MAX }),
    0,
  ),
  /** How many instances there are: more than one share their buckets, so they need Valkey. */
  instances: optional("VESTIBULE_INSTANCES", wholeNumber({ min: 1, max: 10_000 }), 1),
  nodeEnv: optional("NODE_ENV", z.string(), ""),
  /** Names identities in Valkey. Another one starts every bucket anew: that is its rotation. */
  identitySecret: optionalSecret("VESTIBULE_IDENTITY_SECRET", secret({ charsMin: 32 })),
  /** What the shop's own server shows: for authenticated users, confirmed holds, faults. */
  shopToken: optionalSecret("VESTIBULE_SHOP_TOKEN", secret({ charsMin: 32 })),
  /** What the mint wants to see before it believes that a sale is sold out; without it nothing is reported. */
  supplyToken: optionalSecret("VESTIBULE_SUPPLY_TOKEN", secret({ charsMin: 32 })),
  /** A private JWK (Ed25519): signs credits for purchases that failed through a fault of ours. */
  creditKey: optionalSecret("VESTIBULE_CREDIT_KEY", secretText()),
  purchaseLimit: optional("VESTIBULE_LIMIT_PURCHASE", allowance(), {
    capacity: 10,
    refillMs: 1_000,
  }),
  consoleLogInLimit: optional("VESTIBULE_LIMIT_CONSOLE_LOG_IN", allowance(), {
    capacity: 20,
    refillMs: 3_000,
  }),
  /**
   * Orders and holds that are looked at, extended or cancelled, for each client address: anybody can make up
   * names of them, and each costs PostgreSQL a look. Generous: a whole network may stand behind one address, and
   * a shop's server does (with the shop's token it is not limited). It fails closed like the others: while the
   * store is away a look can wait, and what the shop confirms must not stand in line behind made-up names.
   */
  readLimit: optional("VESTIBULE_LIMIT_READ", allowance(), { capacity: 600, refillMs: 10 }),
};
export type PurchaseConfig = Config<typeof VARIABLES>;

/** What must hold between the settings. A setting that could not be read is absent and told of already. */
export function crossCheck(config: Partial<PurchaseConfig>): string[] {
  const same = sameSecrets({
    VESTIBULE_ADMIN_TOKEN: config.adminToken,
    VESTIBULE_SHOP_TOKEN: config.shopToken,
    VESTIBULE_SUPPLY_TOKEN: config.supplyToken,
  });
  return [...same, ...checkStore(config)];
}

function checkStore(config: Partial<PurchaseConfig>): string[] {
  // Absent, not undefined: it was given and is not well formed.
  if (!("valkeyUrl" in config)) return [];
  if (config.valkeyUrl !== undefined) {
    const isMissing = "identitySecret" in config && config.identitySecret === undefined;
    return isMissing
      ? ["VESTIBULE_IDENTITY_SECRET is required with VALKEY_URL: all instances share one"]
      : [];
  }
  const mistakes: string[] = [];
  if (config.nodeEnv === "production") {
    mistakes.push(
      "VALKEY_URL is required with NODE_ENV=production: without it the limits are forgotten at every restart",
    );
  }
  if ((config.instances ?? 1) > 1) {
    mistakes.push(
      "VALKEY_URL is required with VESTIBULE_INSTANCES above 1: without it each instance counts for itself",
    );
  }
  return mistakes;
}

/** Whole number, `/`, whole number with `ms`, `s` or `m`. An empty bucket is full again within a day. */
function allowance(): z.ZodMiniType<Allowance> {
  const PATTERN = /^([1-9]\d{0,5})\/([1-9]\d{0,7})(ms|s|m)$/;
  const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };
  const DAY_MS = 86_400_000;
  const read = (value: string): Allowance => {
    const [, capacity, amount, unit = ""] = PATTERN.exec(value) ?? [];
    return { capacity: Number(capacity), refillMs: Number(amount) * (UNIT_MS[unit] ?? Number.NaN) };
  };
  const isFullWithinADay = (value: string) => {
    const { capacity, refillMs } = read(value);
    return !PATTERN.test(value) || capacity * refillMs <= DAY_MS;
  };
  return z.pipe(
    z
      .string()
      .check(
        z.regex(
          PATTERN,
          "must be like 10/1s: how many, and after what time (ms, s, m) one comes back",
        ),
        z.refine(isFullWithinADay, "must be full again within a day"),
      ),
    z.transform(read),
  ) as z.ZodMiniType<Allowance>;
}

/** One address, or the nodes of a cluster separated by commas: whatever the client understands. */
function valkeyUrl(): z.ZodMiniType<Secret> {
  return z.pipe(
    z.string().check(z.maxLength(4_096, "must have at most 4096 characters")),
    z.transform((value: string, context) => {
      try {
        parseStoreUrl(value);
        return new Secret(value);
      } catch (error) {
        // Its messages never repeat the text, which may hold a password.
        const message = error instanceof TypeError ? error.message : "cannot be read";
        context.issues.push({ code: "custom", input: undefined, message });
        return z.NEVER;
      }
    }),
  ) as z.ZodMiniType<Secret>;
}

/** JSON that is a secret: what it means is decided by whoever uses it. */
function secretText(): z.ZodMiniType<Secret> {
  return z.pipe(
    z.string().check(z.minLength(1, "must not be empty"), z.maxLength(4_096)),
    z.transform((value: string) => new Secret(value)),
  ) as z.ZodMiniType<Secret>;
}
