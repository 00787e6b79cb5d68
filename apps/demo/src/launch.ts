/** From options to a running sale, and back to nothing. */
import { rmSync } from "node:fs";
import { join } from "node:path";

import { forgetOutside, startDatabase } from "./database.ts";
import type { Display } from "./display.ts";
import { StartFailure } from "./failure.ts";
import {
  type Home,
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
import { DEFAULTS, type StartOptions } from "./options.ts";
import { Relay, checkPorts, portsFrom } from "./ports.ts";
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
}

export interface LaunchContext {
  /** The project's directory. */
  readonly root: string;
  readonly options: StartOptions;
  readonly display: Display;
  /** Aborted when somebody asks to stop. */
  readonly signal: AbortSignal;
  /** Told as soon as there is something to kill. */
  readonly onSupervisor: (supervisor: Supervisor) => void;
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

async function run(
  context: LaunchContext,
  parts: {
    home: Home;
    supervisor: Supervisor;
    closers: (() => Promise<void> | void)[];
  },
): Promise<void> {
  const { root, options, display, signal } = context;
  const { home, supervisor, closers } = parts;
  const secrets = readSecrets(home);
  const stored = readSale(home);
  const portBase = options.portBase ?? stored?.portBase ?? DEFAULTS.portBase;
  const ports = portsFrom(portBase);
  await checkPorts(ports);

  const http = createHttp({ connectionsMax: 8 });
  closers.push(() => http.close());
  const services: ServicesContext = { root, home, secrets, ports, supervisor, http, signal };
  const url = (port: number): string => `http://localhost:${port}`;
  const step = async <Value>(what: string, work: () => Promise<Value>): Promise<Value> => {
    const began = performance.now();
    const value = await work();
    signal.throwIfAborted();
    display.say(`  ✓ ${what.padEnd(42)}${((performance.now() - began) / 1000).toFixed(1)} s`);
    return value;
  };

  // Built while the database starts: together they are most of the wait.
  const built = buildEdge(services);
  built.catch(() => {}); // heard where it is awaited
  const urls = await step("PostgreSQL", () =>
    startDatabase({ home, password: secrets.databasePassword, supervisor, signal }),
  );
  if (urls.note !== undefined) display.say(`    ${urls.note}`);
  await step(`mint             ${url(ports.mint)}`, () => startMint(services, urls));
  await step(`purchase API     ${url(ports.purchase)}`, () => startPurchase(services, urls));
  const admin = new Admin({
    http,
    mintUrl: `http://127.0.0.1:${ports.mint}`,
    purchaseUrl: `http://127.0.0.1:${ports.purchase}`,
    adminToken: secrets.adminToken,
  });
  const { sale, notes } = await openSale({ admin, options, stored, portBase, now: Date.now() });
  writeSale(home, sale);
  await step(`demo shop        ${url(ports.shop)}`, () => startShop(services, sale.event));
  await step(`edge (workerd)   ${url(ports.edge)}`, () =>
    startEdge(services, { built, event: sale.event }),
  );
  const relay = new Relay();
  closers.push(() => relay.close());
  for (const port of Object.values(ports)) await relay.open(port);
  for (const note of notes) display.say(`    ${note}`);

  const eventPath = `/events/${sale.event}`;
  const ready: ReadyFile = {
    edge: url(ports.edge),
    mint: url(ports.mint),
    purchase: url(ports.purchase),
    shop: url(ports.shop),
    event: sale.event,
    eventUrl: `${url(ports.edge)}${eventPath}`,
    sku: SKU,
    adminToken: secrets.adminToken,
  };
  const { readyFile } = options;
  if (readyFile !== undefined) {
    supervisor.noteReadyFile(readyFile);
    closers.push(() => rmSync(readyFile, { force: true }));
    writeJson(readyFile, ready);
  }
  await watchSale({
    event: sale.event,
    eventPath,
    admin,
    http,
    display,
    signal,
    edgeUrl: `http://127.0.0.1:${ports.edge}`,
    fans: options.fans ?? DEFAULTS.fans,
    links: [
      { label: "join the line", target: ready.eventUrl },
      { label: "shop", target: `${ready.edge}/` },
      { label: "admin API", target: `${ready.mint}/openapi.json` },
      { label: "admin token", target: `adminToken in ${home.secretsFile}` },
    ],
  });
}
