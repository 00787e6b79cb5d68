/** The crowd at the purchase API: a process of its own on bare sockets, so that it costs little and hides in no figure. */
import { randomUUID } from "node:crypto";

import {
  ADMISSION_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  USER_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";

import { Lane } from "./lane.ts";
import type { HttpAnswer } from "./http-response.ts";
import type { Answer, FromShoppers, Shopper, ToShoppers } from "./shopper-messages.ts";

type Order<Type extends ToShoppers["type"]> = Extract<ToShoppers, { type: Type }>;
type Shopping = Pick<Order<"rush">, "event" | "sku" | "shopToken">;

/** A request of one shopper, with its key: sent again unchanged it is the same attempt. */
interface Try {
  readonly shopper: number;
  readonly bytes: Buffer;
}

const LANES_MAX = 2_000;

let ports: readonly number[] = [];
let lanes: Lane[] = [];
let pacing: { halted: boolean; done: Promise<FromShoppers> } | undefined;

const clockMs = (): number => performance.timeOrigin + performance.now();

async function connectLanes(order: Order<"connect">): Promise<FromShoppers> {
  for (const lane of lanes) lane.close();
  ports = order.ports;
  lanes = Array.from({ length: order.lanes }, (_, index) => newLane(index));
  await Promise.all(lanes.map((lane) => lane.open()));
  return { type: "ready" };
}

/** The instances in turn, as a load balancer would. */
function newLane(index: number): Lane {
  return new Lane(ports[index % ports.length] ?? 0);
}

async function rush(order: Order<"rush">): Promise<FromShoppers> {
  const tries = order.shoppers.map((_, index) => newTry(order, index));
  if (tries.length > lanes.length)
    throw new Error(`${tries.length} at once, ${lanes.length} lanes`);
  await Promise.all(lanes.map((lane) => lane.open()));
  const startedAt = performance.now();
  const answers = await Promise.all(tries.map((one, index) => attempt(lanes[index] as Lane, one)));
  return { type: "answers", elapsedMs: performance.now() - startedAt, answers };
}

async function hammer(order: Order<"hammer">): Promise<FromShoppers> {
  const queue: Try[] = [];
  const underWay = order.shoppers.map((_, index): number =>
    order.doubleEvery > 0 && index % order.doubleEvery === 0 ? 2 : 1,
  );
  const bought = order.shoppers.map(() => false);
  for (const [index, times] of underWay.entries()) {
    const first = newTry(order, index);
    for (let time = 0; time < times; time += 1) queue.push(first);
  }
  let head = 0;
  let sent = 0;
  const answers: Answer[] = [];
  await Promise.all(lanes.map((lane) => lane.open()));
  const startedAt = performance.now();
  await Promise.all(
    lanes.map(async (lane) => {
      for (;;) {
        const next = queue[head];
        if (next === undefined || sent === order.requests) return;
        head += 1;
        sent += 1;
        const answer = await attempt(lane, next);
        answers.push(answer);
        const { shopper } = next;
        if (answer.said === "201") bought[shopper] = true;
        underWay[shopper] = (underWay[shopper] ?? 0) - 1;
        if (underWay[shopper] === 0 && bought[shopper] !== true) {
          underWay[shopper] = 1;
          queue.push(newTry(order, shopper));
        }
        if (answer.said.startsWith("none")) await lane.open();
      }
    }),
  );
  return { type: "answers", elapsedMs: performance.now() - startedAt, answers };
}

/** Open loop: a late answer makes no request later. Lanes are added when none is free. */
async function pace(order: Order<"pace">, state: { halted: boolean }): Promise<FromShoppers> {
  const queue = order.shoppers.map((_, index) => newTry(order, index));
  const free = [...lanes];
  const answers: Answer[] = [];
  const running = new Set<Promise<void>>();
  const startedAt = performance.now();
  let due = 0;
  const one = async (next: Try): Promise<void> => {
    const lane = free.pop() ?? newLane(lanes.length);
    if (!lanes.includes(lane)) lanes.push(lane);
    await lane.open();
    const answer = await attempt(lane, next);
    free.push(lane);
    answers.push(answer);
    if (answer.said === "201") return;
    // What failed is the same attempt again; what was refused is a new one.
    queue.push(answer.said.startsWith("409") ? newTry(order, next.shopper) : next);
  };
  while (!state.halted) {
    const elapsedSeconds = (performance.now() - startedAt) / 1_000;
    while (due < elapsedSeconds * order.perSecond) {
      due += 1;
      const next = queue.shift();
      if (next === undefined || lanes.length >= LANES_MAX) continue;
      const work = one(next).finally(() => running.delete(work));
      running.add(work);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(running);
  return { type: "answers", elapsedMs: performance.now() - startedAt, answers };
}

async function attempt(lane: Lane, { shopper, bytes }: Try): Promise<Answer> {
  const sentAtMs = clockMs();
  const took = (): number => clockMs() - sentAtMs;
  try {
    const answer = await lane.send(bytes);
    return { shopper, sentAtMs, tookMs: took(), ...wordsOf(answer) };
  } catch (error) {
    return { shopper, sentAtMs, tookMs: took(), said: `none: ${(error as Error).message}` };
  }
}

function wordsOf({ status, body }: HttpAnswer): Pick<Answer, "said" | "orderId"> {
  const told = JSON.parse(body.toString("utf8")) as { type?: string; orderId?: string };
  // The last word of a problem's type is its code.
  if (status !== 201) return { said: `${status} ${told.type?.split(/[/:]/).at(-1) ?? ""}`.trim() };
  if (typeof told.orderId !== "string") throw new Error(`201 without an order: ${body.toString()}`);
  return { said: "201", orderId: told.orderId };
}

function newTry(
  { event, sku, shoppers, shopToken }: Shopping & { shoppers: readonly Shopper[] },
  shopper: number,
): Try {
  const { visitor = "", token = "", user } = shoppers[shopper] ?? {};
  const body = JSON.stringify({ sku, quantity: 1 });
  const head = [
    `POST /v1/events/${event}/purchases HTTP/1.1`,
    "Host: purchase.bench.example",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    `${ADMISSION_HEADER}: ${token}`,
    `${VISITOR_HEADER}: ${visitor}`,
    `${IDEMPOTENCY_KEY_HEADER}: ${randomUUID()}`,
    ...(user === undefined
      ? []
      : [`${USER_HEADER}: ${user}`, `Authorization: Bearer ${shopToken}`]),
  ];
  return { shopper, bytes: Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`, "latin1") };
}

async function obey(order: ToShoppers): Promise<FromShoppers> {
  switch (order.type) {
    case "connect":
      return connectLanes(order);
    case "rush":
      return rush(order);
    case "hammer":
      return hammer(order);
    case "pace": {
      const state = { halted: false, done: Promise.resolve<FromShoppers>({ type: "ready" }) };
      state.done = pace(order, state);
      pacing = state;
      return { type: "ready" };
    }
    case "halt": {
      if (pacing === undefined) throw new Error("nobody is at work");
      pacing.halted = true;
      return pacing.done;
    }
  }
}

process.on("message", (order: ToShoppers) => {
  void obey(order)
    .catch((error: unknown) => ({ type: "failed", message: String(error) }) as const)
    .then((answer) => process.send?.(answer));
});
process.on("disconnect", () => process.exit(0));
