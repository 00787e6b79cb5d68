import { SKEW_SECONDS_DEFAULT, SKEW_SECONDS_MAX } from "@vestibule/contracts/limits";
import { MINT_URLS_MAX } from "@vestibule/feed/limits";
import {
  type Config,
  httpBase,
  json,
  list,
  optional,
  port,
  postgresUrl,
  required,
  requiredSecret,
  secret,
  text,
  wholeNumber,
} from "@vestibule/service/env";

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
};
export type PurchaseConfig = Config<typeof VARIABLES>;
