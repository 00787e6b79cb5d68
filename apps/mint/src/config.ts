import { SIGNING_NAME_DEFAULT, SIGNING_NAMES } from "@vestibule/keys/public-key";
import { type KeyEncryptionKey, parseKek } from "@vestibule/keys/seal";
import { TRUST_PROXY_HOPS_MAX } from "@vestibule/service/client-address";
import {
  type Config,
  httpBase,
  json,
  oneOf,
  optional,
  optionalSecret,
  port,
  postgresUrl,
  required,
  requiredSecret,
  sameSecrets,
  secret,
  text,
  type Variables,
  wholeNumber,
} from "@vestibule/service/env";
import * as z from "zod/mini";
import { ISSUER_CHARS_MAX, KEY_ROTATION_DAYS_MAX } from "./limits.ts";

const kek = z.pipe(
  z.string(),
  z.transform((text: string, context) => {
    const read = parseKek(text);
    if (read.ok) return read.value;
    const message = "must be 32 bytes as base64url: 43 characters, no padding";
    context.issues.push({ code: "custom", input: undefined, message });
    return z.NEVER;
  }),
) as z.ZodMiniType<KeyEncryptionKey>;

export const VARIABLES = {
  port: required("VESTIBULE_PORT", port()),
  host: optional("VESTIBULE_HOST", text({ charsMax: 255 }), "127.0.0.1"),
  databaseUrl: requiredSecret("VESTIBULE_DATABASE_URL", postgresUrl()),
  /** Names this mint in every token, for good. */
  issuer: required(
    "VESTIBULE_ISSUER",
    httpBase().check(
      z.maxLength(ISSUER_CHARS_MAX, `must have at most ${ISSUER_CHARS_MAX} characters`) as never,
    ),
  ),
  adminToken: requiredSecret("VESTIBULE_ADMIN_TOKEN", secret({ charsMin: 32 })),
  /** Opens the private keys in the database. */
  kek: requiredSecret("VESTIBULE_KEK", kek),
  /** Opens what it sealed, until that is sealed anew: for the time in which one takes over from the other. */
  kekPrevious: optionalSecret("VESTIBULE_KEK_PREVIOUS", kek),
  /** A key signs for this long before the next takes over by itself; absent: when somebody says so. */
  keyRotationDays: optional(
    "VESTIBULE_KEY_ROTATION_DAYS",
    wholeNumber({ min: 1, max: KEY_ROTATION_DAYS_MAX }),
    undefined,
  ),
  /** The name of the algorithm that new keys have, and so what they sign. */
  signingName: optional("VESTIBULE_SIGNING_NAME", oneOf(SIGNING_NAMES), SIGNING_NAME_DEFAULT),
  /** Proxies before this mint that append to `X-Forwarded-For`; 0: the header is not read. */
  trustProxyHops: optional(
    "TRUST_PROXY_HOPS",
    wholeNumber({ min: 0, max: TRUST_PROXY_HOPS_MAX }),
    0,
  ),
  /** Of whoever collects `GET /metrics`; without it nobody does. */
  metricsToken: optionalSecret("VESTIBULE_METRICS_TOKEN", secret({ charsMin: 32 })),
  /** Of the purchase API, which reports what is left; without it no report is taken. */
  supplyToken: optionalSecret("VESTIBULE_SUPPLY_TOKEN", secret({ charsMin: 32 })),
  /** A JWKS: the public keys of the purchase API's credits; without it no credit counts. */
  creditKeys: optional("VESTIBULE_CREDIT_KEYS", json(), undefined),
} satisfies Variables;

export type MintConfig = Config<typeof VARIABLES>;

/** What must hold between the settings. */
export function crossCheck(config: Partial<MintConfig>): string[] {
  return sameSecrets({
    VESTIBULE_ADMIN_TOKEN: config.adminToken,
    VESTIBULE_SUPPLY_TOKEN: config.supplyToken,
    VESTIBULE_METRICS_TOKEN: config.metricsToken,
  });
}
