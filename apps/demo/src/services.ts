/** The four HTTP parts: how each is started, and when it answers. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { jwksDocument } from "@vestibule/keys/public-key";
import { importPrivateJwk } from "@vestibule/keys/signing-key";

import type { DatabaseUrls } from "./database.ts";
import { type WorkerSettings, bundleEdge, readWorkerSettings } from "./edge-bundle.ts";
import type { EdgeHostOptions } from "./edge-host.ts";
import { StartFailure, explainFileError } from "./failure.ts";
import type { Home, Secrets } from "./home.ts";
import type { Http } from "./http.ts";
import type { Ports } from "./ports.ts";
import { SKU } from "./sale.ts";
import { type Part, type Supervisor, explainEnd } from "./supervisor.ts";

/** Stands in every token; it must not change with the ports, or a new start would refuse old tickets. */
const ISSUER = "https://mint.vestibule.example";
const ANSWER_POLLS_MAX = 300;
const ANSWER_POLL_MS = 100;
/** Of the caller's environment, what mint and purchase API are told as well. */
const PASSED_ON_TO_MINT = ["VESTIBULE_SIGNING_NAME"] as const;
const PASSED_ON = [
  "INVENTORY_GATE_ENABLED",
  "TRUST_PROXY_HOPS",
  "VALKEY_DEADLINE_MS",
  "VESTIBULE_LIMIT_CONSOLE_LOG_IN",
  "VESTIBULE_LIMIT_PURCHASE",
] as const;

export interface ServicesContext {
  readonly root: string;
  readonly home: Home;
  readonly secrets: Secrets;
  readonly ports: Ports;
  readonly supervisor: Supervisor;
  readonly http: Http;
  readonly signal: AbortSignal;
}

/** Where parts call each other: the address on which they listen, whatever `localhost` means here. */
function at(port: number): string {
  return `http://127.0.0.1:${port}`;
}

export async function startMint(context: ServicesContext, urls: DatabaseUrls): Promise<void> {
  const { ports, secrets } = context;
  const part = await startApp(context, "mint", {
    VESTIBULE_PORT: String(ports.mint),
    VESTIBULE_DATABASE_URL: urls.mint,
    VESTIBULE_ISSUER: ISSUER,
    VESTIBULE_ADMIN_TOKEN: secrets.adminToken,
    VESTIBULE_METRICS_TOKEN: secrets.metricsToken,
    VESTIBULE_KEK: secrets.kek,
    VESTIBULE_SUPPLY_TOKEN: secrets.supplyToken,
    VESTIBULE_CREDIT_KEYS: await creditKeys(secrets),
    ...passedOn(PASSED_ON_TO_MINT),
  });
  await untilAnswers(context, part, `${at(ports.mint)}/readyz`);
}

/** @param valkeyUrl undefined: it counts in its own memory. */
export async function startPurchase(
  context: ServicesContext,
  urls: DatabaseUrls,
  valkeyUrl: string | undefined,
): Promise<void> {
  const { ports, secrets } = context;
  const part = await startApp(context, "purchase", {
    VESTIBULE_PORT: String(ports.purchase),
    VESTIBULE_DATABASE_URL: urls.purchase,
    VESTIBULE_ISSUER: ISSUER,
    VESTIBULE_MINT_URLS: at(ports.mint),
    VESTIBULE_ADMIN_TOKEN: secrets.adminToken,
    VESTIBULE_SHOP_TOKEN: secrets.shopToken,
    VESTIBULE_SUPPLY_TOKEN: secrets.supplyToken,
    VESTIBULE_CREDIT_KEY: secrets.creditKey,
    VESTIBULE_IDENTITY_SECRET: secrets.identitySecret,
    ...(valkeyUrl === undefined ? {} : { VALKEY_URL: valkeyUrl }),
    ...passedOn(PASSED_ON),
  });
  await untilAnswers(context, part, `${at(ports.purchase)}/readyz`);
}

export async function startShop(context: ServicesContext, event: string): Promise<void> {
  const { ports } = context;
  const part = await startApp(context, "demo-shop", {
    VESTIBULE_PORT: String(ports.shop),
    VESTIBULE_PURCHASE_URL: at(ports.purchase),
    VESTIBULE_EVENT: event,
    VESTIBULE_SKU: SKU,
  });
  await untilAnswers(context, part, `${at(ports.shop)}/`);
}

/** The Worker as a file, and what wrangler.toml says of it. Needs nothing that runs. */
export async function buildEdge({
  root,
  home,
}: Pick<ServicesContext, "root" | "home">): Promise<WorkerSettings & { script: string }> {
  const settings = readWorkerSettings(join(root, "wrangler.toml"));
  const script = join(home.edge, "edge.js");
  try {
    mkdirSync(home.edge, { recursive: true, mode: 0o700 });
    writeFileSync(script, await bundleEdge({ root, main: settings.main }));
  } catch (error) {
    throw explainFileError(error, home.directory);
  }
  return { ...settings, script };
}

export async function startEdge(
  context: ServicesContext,
  edge: { built: ReturnType<typeof buildEdge>; event: string },
): Promise<void> {
  const { home, ports, http, supervisor } = context;
  const { script, compatibilityDate, compatibilityFlags } = await edge.built;
  const jwks = await http.send({ url: `${at(ports.mint)}/.well-known/jwks.json` });
  const options: EdgeHostOptions = {
    script,
    port: ports.edge,
    compatibilityDate,
    compatibilityFlags,
    bindings: {
      MINT_URLS: at(ports.mint),
      ORIGIN_URL: at(ports.shop),
      PURCHASE_URL: at(ports.purchase),
      ISSUER,
      JWKS: jwks.text,
      LOCATION: "demo",
    },
  };
  const part = await supervisor.start({
    name: "edge",
    command: process.execPath,
    args: [join(import.meta.dirname, "edge-host.ts")],
    cwd: home.directory,
    env: {
      ...environment(),
      EDGE_OPTIONS: JSON.stringify(options),
      // workerd's scratch files stay with the sale, also after a kill.
      TMPDIR: home.edge,
    },
    stopSignal: "SIGTERM",
    stopTimeoutMs: 4_000,
  });
  await untilAnswers(context, part, `${at(ports.edge)}/_vestibule/events/${edge.event}/drip`, {
    // The manifest that names the event is signed for this host.
    Host: `localhost:${ports.edge}`,
  });
}

function startApp(
  context: ServicesContext,
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<Part> {
  return context.supervisor.start({
    name,
    command: process.execPath,
    args: [join(context.root, "apps", name, "src", "main.ts")],
    cwd: context.home.directory,
    env: { ...environment(), ...settings },
    stopSignal: "SIGTERM",
    stopTimeoutMs: 4_000,
  });
}

/** The public half of the key that signs credits, as the mint takes it: a JWKS. */
async function creditKeys({ creditKey }: Secrets): Promise<string> {
  const imported = await importPrivateJwk(JSON.parse(creditKey));
  if (!imported.ok) {
    throw new StartFailure(
      `creditKey in secrets.json is damaged (${imported.refusal}). Remove that line, and the next start makes another.`,
    );
  }
  return JSON.stringify(jwksDocument([imported.value.publicJwk]));
}

/** Nothing of the caller's environment reaches a part, but what every program needs. */
function environment(): Record<string, string> {
  return passedOn(["PATH", "HOME", "TMPDIR", "LANG", "TZ", "SSL_CERT_FILE", "SystemRoot"]);
}

function passedOn(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

async function untilAnswers(
  context: ServicesContext,
  part: Part,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  let last = "no answer";
  for (let poll = 0; poll < ANSWER_POLLS_MAX; poll += 1) {
    context.signal.throwIfAborted();
    if (part.hasEnded) {
      throw explainEnd(part, join(context.home.logs, `${part.name}.log`));
    }
    try {
      const { status } = await context.http.send({ url, headers, timeoutMs: 2_000 });
      if (status === 200) return;
      last = `status ${status}`;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(ANSWER_POLL_MS);
  }
  throw new StartFailure(
    `${part.name} does not answer (${last}). What it said is in ${join(context.home.logs, `${part.name}.log`)}`,
  );
}
