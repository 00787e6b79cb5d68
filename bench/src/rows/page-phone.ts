import type { DripView } from "@vestibule/contracts/statements";
import type { Browser } from "playwright-core";

import { startEdge } from "../edge-candidate.ts";
import { SERVING, dripClaims } from "../edge-world.ts";
import {
  type Fan,
  type Phone,
  PAGE_URL,
  launchChromium,
  newPhone,
  openPage,
} from "../page/phone.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { median } from "../statistics.ts";

const PAINT_MS_MAX = 1_000;
const PAINTS = 9;
const PAINTS_QUICK = 3;
/** Of the main thread's time, while the page waits and is shown. */
const BUSY_MOST = 0.05;
const IDLE_MS = 30_000;
const IDLE_MS_QUICK = 5_000;
/** Until what belongs to the start is over. */
const SETTLE_MS = 3_000;
/** Heap after two hours, beside that after the first ten minutes. */
const HEAP_BYTES_MAX = 64 * 1_024;
const MINUTES = 120;
const MINUTES_QUICK = 30;
const EVERY_MINUTES = 10;
/** Two hours and more behind: 600 a minute. */
const BEHIND = 200_000;

export const pagePhone: Row = {
  name: "page-phone",
  what: "first paint of the holding page after its first byte, on a throttled phone",
  floor:
    "1 s; floor ÷ candidate. Main thread busy less than 5 % while waiting, heap flat over two simulated hours",
  unit: "ms",
  atLeast: 1,
  timeoutMs: 300_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const { edge, signer } = await startEdge(bench);
  const browser = await launchChromium(bench, edge.port);
  const fan = await signer.place(SERVING + BEHIND);
  const paints: number[] = [];
  for (let i = 0; i < (bench.quick ? PAINTS_QUICK : PAINTS); i += 1) {
    bench.progress(`first paint ${i + 1}`);
    paints.push(await firstPaintMs(browser));
  }
  bench.progress("waiting");
  const busy = await busyShare(browser, fan, bench.quick ? IDLE_MS_QUICK : IDLE_MS);
  const heaps = await heapsOf(bench, browser, fan);
  const grown = (heaps.at(-1) ?? 0) - (heaps[0] ?? 0);
  const paint = median(paints);
  return {
    candidate: paint,
    floor: PAINT_MS_MAX,
    ratio: PAINT_MS_MAX / paint,
    misses: [
      ...(busy < BUSY_MOST ? [] : [`the main thread is busy ${percent(busy)} of the time`]),
      ...(grown <= HEAP_BYTES_MAX ? [] : [`the heap grew by ${kibibytes(grown)}`]),
    ],
    notes: [
      `first paints from ${Math.round(Math.min(...paints))} to ${Math.round(Math.max(...paints))} ms; CPU slowed to a quarter, 1.6 Mbit/s, 150 ms round trip`,
      `main thread busy ${percent(busy)} of the time while waiting, at a quarter of the speed`,
      `heap every ten simulated minutes, after a collection: ${heaps.map(kibibytes).join(", ")}`,
    ],
  };
}

/** Of somebody who has never been here. */
async function firstPaintMs(browser: Browser): Promise<number> {
  const phone = await newPhone(browser, { isSlow: true });
  await phone.page.goto(PAGE_URL);
  const paint = await phone.page.waitForFunction(() => {
    const [navigation] = performance.getEntriesByType("navigation");
    const [painted] = performance.getEntriesByName("first-contentful-paint");
    if (!(navigation instanceof PerformanceNavigationTiming)) return undefined;
    return painted && painted.startTime - navigation.responseStart;
  });
  const ms = (await paint.jsonValue()) ?? Number.NaN;
  await phone.close();
  return ms;
}

/** How much of its time the main thread works for a page that waits, is shown and polls the real Worker. */
async function busyShare(browser: Browser, fan: Fan, forMs: number): Promise<number> {
  const phone = await newPhone(browser, { fan, isSlow: true });
  await openPage(phone.page, "waiting");
  await phone.devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  await passing(SETTLE_MS);
  const beganAt = performance.now();
  const before = await busyMs(phone);
  await passing(forMs);
  const busy = (await busyMs(phone)) - before;
  const elapsedMs = performance.now() - beganAt;
  await phone.close();
  return busy / elapsedMs;
}

/** By the main thread's own CPU time, so that other processes of this machine do not count. */
async function busyMs({ devtools }: Phone): Promise<number> {
  const { metrics } = await devtools.send("Performance.getMetrics");
  const seconds = metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
  return seconds * 1_000;
}

/** Bytes in use, every ten minutes of the page's own time. The page is the real one; its polls are answered as the Worker does. */
async function heapsOf(bench: Bench, browser: Browser, fan: Fan): Promise<readonly number[]> {
  const phone = await newPhone(browser, { fan, isSlow: false });
  const { page, devtools } = phone;
  const startedAt = Date.now();
  await page.route("**/drip", async (route) => {
    const now = await page.evaluate(() => Date.now());
    await route.fulfill({ json: dripAt(now, startedAt) });
  });
  await openPage(page, "waiting");
  const heaps: number[] = [];
  const minutes = bench.quick ? MINUTES_QUICK : MINUTES;
  for (let minute = EVERY_MINUTES; minute <= minutes; minute += EVERY_MINUTES) {
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    devtools.once("Emulation.virtualTimeBudgetExpired", () => resolve());
    await devtools.send("Emulation.setVirtualTimePolicy", {
      policy: "pauseIfNetworkFetchesPending",
      budget: EVERY_MINUTES * 60_000,
    });
    await isOver;
    bench.progress(`${minute} of ${minutes} simulated minutes`);
    await devtools.send("HeapProfiler.collectGarbage");
    heaps.push((await devtools.send("Runtime.getHeapUsage")).usedSize);
  }
  const passed = (await page.evaluate(() => Date.now())) - startedAt;
  if (passed < minutes * 60_000) throw new Error(`only ${passed} ms have passed for the page`);
  const state = await page.getAttribute("main", "data-state");
  if (state !== "waiting") throw new Error(`the page is in state ${state} after its hours`);
  await phone.close();
  return heaps;
}

/** What the location says at that moment: the line moves on, ten a second. */
function dripAt(now: number, startedAt: number): DripView {
  const moved = Math.floor((now - startedAt) / 100);
  const { iss: _issuer, aud: event, keysSeq: _keys, ...claims } = dripClaims(now);
  return {
    ...claims,
    event,
    segments: claims.segments.map((segment) => ({ ...segment, base: segment.base + moved })),
    serving: claims.serving + moved,
    committed: claims.committed + moved,
    issued: claims.issued + moved,
  };
}

function passing(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

function kibibytes(bytes: number): string {
  return `${Math.round(bytes / 1_024)} KiB`;
}
