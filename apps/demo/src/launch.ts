/** From options to a running sale, and back to nothing. */
import { rmSync } from "node:fs";
import { join } from "node:path";

import { forgetOutside, startDatabase } from "./database.ts";
import type { Display } from "./display.ts";
import { StartFailure } from "./failure.ts";
import {
  type Home,
  type Secrets,
  emptyHome,
  homeAt,
  makeHome,
  mayBeEmptied,
  openHome,
  readSale,
  readSecrets,
  writeJson,
  writeSale,
} from "./home.ts";
import { createHttp } from "./http.ts";
import { DEFAULTS, type StartOptions, commandWith, quoted } from "./options.ts";
import { type Ports, Relay, checkPorts, portsFrom } from "./ports.ts";
import { RunLock, endLeftOvers } from "./run-lock.ts";
import { Admin, SKU, openSale } from "./sale.ts";
import {
  type ServicesContext,
  buildEdge,
  startEdge,
  startMint,
  startPurchase,
  startShop,
} from "./services.ts";
import { openStore } from "./store.ts";
import { Supervisor } from "./supervisor.ts";
import { watchSale } from "./watch.ts";

/** What `--ready-file` holds. */
export interface ReadyFile {
  readonly edge: string;
  readonly mint: string;
  readonly purchase: string;
  readonly shop: string;
  readonly event: string;
  readonly eventUrl: string;
  readonly sku: string;
  readonly adminToken: string;
  /** For the shop's own calls at the purchase API. */
  readonly shopToken: string;
}

export interface LaunchContext {
  /** The project's directory. */
  readonly root: string;
  readonly options: StartOptions;
  /** As they were typed, for hints. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly display: Display;
  /** Aborted when somebody asks to stop. */
  readonly signal: AbortSignal;
  /** Told as soon as there is something to kill. */
  readonly onSupervisor: (supervisor: Supervisor) => void;
}

/** What a run starts, and what must be undone after it. */
interface Parts {
  readonly home: Home;
  readonly supervisor: Supervisor;
  readonly closers: (() => Promise<void> | void)[];
}

/**
 * Runs until it is told to stop. Whatever happens, everything that was started is stopped when
 * this settles.
 *
 * @throws StartFailure when the start, or a part later on, failed.
 */
export async function launch(context: LaunchContext): Promise<void> {
  const { root, options, display, signal } = context;
  const home = homeAt(options.dataDir ?? join(root, ".vestibule"));
  if (options.reset && !mayBeEmptied(home)) {
    throw new StartFailure(
      `--reset removes only data of ours, and ${home.directory} holds other things. Choose another place with --data DIR.`,
    );
  }
  // The directory must be there, and be ours, before the lock is put into it. What is to be
  // forgotten may be of another version.
  let isNew = true;
  if (options.reset) makeHome(home);
  else ({ isNew } = openHome(home));
  const { lock, leftOver } = await RunLock.take(home.lock, home.directory);
  const supervisor = new Supervisor({ logs: home.logs, lock });
  context.onSupervisor(supervisor);
  const closers: (() => Promise<void> | void)[] = [];
  try {
    const ended = leftOver === undefined ? [] : await endLeftOvers(leftOver);
    if (ended.length > 0) {
      display.say(`Stopped what a killed start had left: ${ended.join(", ")}`);
    }
    // Also what a clone left that was removed, and came back at the same path.
    if (isNew) forgetOutside(home);
    if (options.reset) emptyHome(home);
    openHome(home);
    await Promise.race([run(context, { home, supervisor, closers }), supervisor.failed]);
  } catch (error) {
    if (!signal.aborted || error instanceof StartFailure) throw error;
  } finally {
    display.close();
    if (signal.aborted) display.say("Stopping …");
    for (const close of closers.toReversed()) await close();
    await supervisor.stop();
    lock.release();
    if (signal.aborted) display.say("Stopped.");
  }
}

async function run(context: LaunchContext, parts: Parts): Promise<void> {
  const { root, options, args, environment, display, signal } = context;
  const { home, supervisor, closers } = parts;
  const secrets = await readSecrets(home);
  const stored = readSale(home);
  const portBase = options.portBase ?? stored?.portBase ?? DEFAULTS.portBase;
  const ports = portsFrom(portBase);
  await checkPorts(ports, (base) => commandWith(args, base));

  const http = createHttp({ connectionsMax: 8 });
  closers.push(() => http.close());
  const services: ServicesContext = { root, home, secrets, ports, supervisor, http, signal };
  const step = stepsOf(context);

  // First, because a wrong VALKEY_URL is heard of at once, and not after a new database.
  const store = await step(
    ({ title }) => title,
    () =>
      openStore({
        given: environment["VALKEY_URL"],
        path: environment["PATH"] ?? "",
        password: secrets.storePassword,
        directory: home.directory,
        logs: home.logs,
        portBase,
        supervisor,
        signal,
        say: (line) => display.say(line),
      }),
  );
  closers.push(() => store.close());
  if (store.note !== undefined) display.say(`    ${store.note}`);
  // Built while the database starts: together they are most of the wait.
  const built = buildEdge(services);
  built.catch(() => {}); // heard where it is awaited
  const urls = await step("PostgreSQL", () =>
    startDatabase({ home, password: secrets.databasePassword, portBase, supervisor, signal }),
  );
  if (urls.note !== undefined) display.say(`    ${urls.note}`);
  await step(`mint             ${linkTo(ports.mint)}`, () => startMint(services, urls));
  await step(`purchase API     ${linkTo(ports.purchase)}`, () =>
    startPurchase(services, urls, store.url),
  );
  const admin = new Admin({
    http,
    mintUrl: `http://127.0.0.1:${ports.mint}`,
    purchaseUrl: `http://127.0.0.1:${ports.purchase}`,
    adminToken: secrets.adminToken,
  });
  const { sale, notes } = await openSale({ admin, options, stored, portBase, now: Date.now() });
  writeSale(home, sale);
  await step(`demo shop        ${linkTo(ports.shop)}`, () => startShop(services, sale.event));
  await step(`edge (workerd)   ${linkTo(ports.edge)}`, () =>
    startEdge(services, { built, event: sale.event }),
  );
  const relay = new Relay();
  closers.push(() => relay.close());
  for (const port of Object.values(ports)) await relay.open(port);
  for (const note of notes) display.say(`    ${note}`);

  const ready = readyOf({ ports, secrets, event: sale.event });
  tellReady(options.readyFile, ready, parts);
  // Above the panel, whose lines are cut on a narrow terminal: these are good in any directory.
  display.say(`  export VESTIBULE_MINT_URL=${ready.mint}`);
  display.say(`  export VESTIBULE_ADMIN_TOKEN_FILE=${quoted(home.adminTokenFile)}`);
  await watchSale({
    event: sale.event,
    eventPath: new URL(ready.eventUrl).pathname,
    admin,
    http,
    display,
    signal,
    edgeUrl: `http://127.0.0.1:${ports.edge}`,
    fans: sale.fans ?? DEFAULTS.fans,
    store,
    links: [
      { label: "join the line", target: ready.eventUrl },
      { label: "the shop", target: `${ready.edge}/` },
      { label: "steer the sale", target: `npx -y pnpm@12 vestibule events show ${sale.event}` },
      { label: "keys, drills", target: "npx -y pnpm@12 vestibule keys list" },
      { label: "  before them", target: "the two exports above" },
      { label: "the admin API", target: `${ready.mint}/openapi.json` },
    ],
  });
}

type Step = <Value>(
  what: string | ((value: Value) => string),
  work: () => Promise<Value>,
) => Promise<Value>;

/** One thing after the other, each with a line when it is done. */
function stepsOf({ display, signal }: LaunchContext): Step {
  return async (what, work) => {
    const began = performance.now();
    const value = await work();
    signal.throwIfAborted();
    const title = typeof what === "string" ? what : what(value);
    display.say(`  ✓ ${title.padEnd(46)}${((performance.now() - began) / 1000).toFixed(1)} s`);
    return value;
  };
}

/** For people, in a browser. */
function linkTo(port: number): string {
  return `http://localhost:${port}`;
}

function readyOf(given: { ports: Ports; secrets: Secrets; event: string }): ReadyFile {
  const { ports, secrets, event } = given;
  return {
    edge: linkTo(ports.edge),
    mint: linkTo(ports.mint),
    purchase: linkTo(ports.purchase),
    shop: linkTo(ports.shop),
    event,
    eventUrl: `${linkTo(ports.edge)}/events/${event}`,
    sku: SKU,
    adminToken: secrets.adminToken,
    shopToken: secrets.shopToken,
  };
}

/** The file is gone again when the sale is, however it ends. */
function tellReady(path: string | undefined, ready: ReadyFile, parts: Parts): void {
  if (path === undefined) return;
  parts.supervisor.noteReadyFile(path);
  parts.closers.push(() => rmSync(path, { force: true }));
  writeJson(path, ready);
}
