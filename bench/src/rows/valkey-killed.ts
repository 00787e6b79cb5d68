import { setTimeout as wait } from "node:timers/promises";

import type { Answer } from "../load/shopper-messages.ts";
import { Shoppers } from "../load/shoppers-handle.ts";
import { latencyText, type OutageSeen, seenOf, tallyText, winners } from "../purchase/answers.ts";
import { checkBooks, openBooks } from "../purchase/books.ts";
import { SKU, startDatabases, startPurchaseApi } from "../purchase/purchase-world.ts";
import { openSales } from "../purchase/sales.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { startValkey } from "../valkey.ts";

/** `VALKEY_DEADLINE_MS` as it is by default. */
const DEADLINE_MS = 250;
const ANSWER_MS_MAX = DEADLINE_MS + 100;
const RECOVERY_MS_MAX = 2_000;

const INSTANCES = 2;
const LANES = 64;
const PER_SECOND = 300;
const SHOPPERS = 900;
/** Sold neither before the kill nor while Valkey is away: some are left for afterwards. */
const SEATS = 400;
const BEFORE_MS = 800;
const AWAY_MS = 2_000;
const AFTER_MS = 3_000;
const OUTAGES = 4;
const OUTAGES_QUICK = 2;

export const valkeyKilled: Row = {
  name: "valkey-killed",
  what: `longest answer to a purchase while Valkey is killed and started again, ${PER_SECOND} a second`,
  floor: "its deadline and 100 ms; the ratio is that of the condition with the least room",
  unit: "ms",
  atLeast: 1,
  timeoutMs: 150_000,
  measure,
};

interface Sale extends OutageSeen {
  readonly answers: readonly Answer[];
  readonly soldBefore: number;
  readonly sold: number;
}

async function measure(bench: Bench): Promise<Measured> {
  const outages = bench.quick ? OUTAGES_QUICK : OUTAGES;
  const events = Array.from({ length: outages }, (_, index) => `sale-${index + 1}`);
  const valkey = await startValkey(bench);
  const databases = await startDatabases(bench);
  const sales = await openSales(bench, [...events, "warm-up"]);
  const databaseUrl = await databases.create("purchase");
  const options = { name: "gate on", databaseUrl, valkey, sales, gate: true };
  const api = await startPurchaseApi(bench, { ...options, instances: INSTANCES });
  const books = openBooks(databaseUrl);
  bench.processes.finally(() => books.close());
  const crowd = Shoppers.start(bench.processes);
  await crowd.connect(
    api.instances.map(({ port }) => port),
    LANES,
  );

  const open = async (event: string) => {
    const shoppers = await sales.admissions(event, SHOPPERS);
    await api.putOnSale(event, SEATS);
    const strangers = await sales.admissions(event, INSTANCES);
    await crowd.rush({ event, sku: "nothing", shoppers: strangers });
    return shoppers;
  };
  const endure = async (event: string): Promise<Sale> => {
    const shoppers = await open(event);
    await crowd.pace({ event, sku: SKU, shoppers, perSecond: PER_SECOND });
    await wait(BEFORE_MS);
    const soldBefore = (await books.read(event, SKU)).sold;
    const killedAtMs = performance.timeOrigin + performance.now();
    await valkey.kill();
    await wait(AWAY_MS);
    await valkey.restart();
    const backAtMs = performance.timeOrigin + performance.now();
    await wait(AFTER_MS);
    const { answers } = await crowd.halt();
    const read = await books.read(event, SKU);
    checkBooks(read, SEATS);
    const told = winners(answers).size;
    if (told > read.orders) throw new Error(`${told} were told of ${read.orders} orders`);
    return { ...seenOf(answers, { killedAtMs, backAtMs }), answers, soldBefore, sold: read.sold };
  };

  const warm = { event: "warm-up", sku: SKU, shoppers: await open("warm-up") };
  await crowd.hammer({ ...warm, requests: 2 * SHOPPERS, doubleEvery: 0 });
  const seen: Sale[] = [];
  for (const [index, event] of events.entries()) {
    bench.progress(`outage ${index + 1} of ${outages}`);
    seen.push(await endure(event));
  }

  const worstMs = Math.max(...seen.map((one) => one.worstMs));
  const recoveryMs = Math.max(...seen.map((one) => one.recoveryMs));
  const others = seen.flatMap(({ otherWhileAway }) => otherWhileAway);
  const lost = seen.flatMap(({ answers }) => answers.filter(({ said }) => !isExpected(said)));
  return {
    candidate: worstMs,
    floor: ANSWER_MS_MAX,
    ratio: Math.min(ANSWER_MS_MAX / worstMs, RECOVERY_MS_MAX / Math.max(1, recoveryMs)),
    misses: [
      ...(worstMs <= ANSWER_MS_MAX ? [] : [`an answer took ${worstMs.toFixed(0)} ms`]),
      ...(recoveryMs < RECOVERY_MS_MAX ? [] : [`recovery took ${recoveryMs.toFixed(0)} ms`]),
      ...(others.length === 0 ? [] : [`while it was away: ${tallyText(others)}`]),
      ...(lost.length === 0 ? [] : [`unexpected: ${tallyText(lost)}`]),
      ...(seen.every((one) => one.goodAfter > 0) ? [] : ["nothing was sold or refused afterwards"]),
    ],
    notes: [
      `${outages} outages: longest answer ${seen.map((one) => one.worstMs.toFixed(0)).join(", ")} ms (at most ${ANSWER_MS_MAX}), asked for ${seen.map((one) => one.worstSentMs.toFixed(0)).join(", ")} ms after the kill; longest before the kill ${seen.map((one) => one.worstBeforeMs.toFixed(0)).join(", ")} ms; last 503 after it was back ${seen.map((one) => one.recoveryMs.toFixed(0)).join(", ")} ms (less than ${RECOVERY_MS_MAX})`,
      `while it was away ${seen.map((one) => one.whileAway).join(", ")} requests, all answered 503`,
      `sold of ${SEATS} before: ${seen.map((one) => one.soldBefore).join(", ")}; at the end: ${seen.map((one) => one.sold).join(", ")}; never more than there were, though each restart emptied the gate`,
      ...seen.map(({ answers }) => `${tallyText(answers)}; ${latencyText(answers)}`),
    ],
  };
}

function isExpected(said: string): boolean {
  return ["201", "409 sold-out", "503 unavailable"].includes(said);
}
