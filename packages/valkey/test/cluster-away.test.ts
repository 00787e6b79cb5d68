import { expect, test } from "vitest";

import type { ValkeyClient } from "../src/client.system.ts";
import { createValkeyTokenBucket } from "../src/valkey-token-bucket.ts";
import {
  answering,
  bulk,
  type Command,
  type FakeStore,
  startFakeStore,
  TAKEN_REPLY,
} from "./support/fake-store.ts";
import {
  DEADLINE_MS,
  openUp,
  outcomeOf,
  pass,
  SLACK_MS,
  startLoad,
} from "./support/open-client.ts";

const policy = { name: "purchase", capacity: 10, refillMs: 1_000 };
const LAST_SLOT = 16_383;

/** Closes the connection instead of answering. */
const BREAK = Symbol("break");
type Answer = (command: Command) => string | undefined | typeof BREAK;

/** Of a key without a hash tag: CRC16 (XMODEM) of it, modulo the slots. */
function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = ((crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021) & 0xffff;
    }
  }
  return crc % (LAST_SLOT + 1);
}

/** Two nodes that say the same of who holds which slots, and answer calls of scripts as told. */
async function startFakeCluster(firstSlotOfSecond: number): Promise<{
  nodes: readonly [FakeStore, FakeStore];
  answers: [Answer, Answer];
  open: () => Promise<ValkeyClient>;
}> {
  const answers: [Answer, Answer] = [() => TAKEN_REPLY, () => TAKEN_REPLY];
  const ports: number[] = [];
  const node = (port: number): string => `*2\r\n${bulk("127.0.0.1")}:${port}\r\n`;
  const slots = (): string => {
    const [first = 0, second = 0] = ports;
    // One range of the first, with the second as its replica, or a range each.
    if (firstSlotOfSecond > LAST_SLOT) {
      return `*1\r\n*4\r\n:0\r\n:${LAST_SLOT}\r\n${node(first)}${node(second)}`;
    }
    const range = (from: number, to: number, port: number): string =>
      `*3\r\n:${from}\r\n:${to}\r\n${node(port)}`;
    return `*2\r\n${range(0, firstSlotOfSecond - 1, first)}${range(firstSlotOfSecond, LAST_SLOT, second)}`;
  };
  const start = (index: 0 | 1): Promise<FakeStore> =>
    startFakeStore((command, socket) => {
      const [name = "", sub = ""] = command.map((word) => word.toLowerCase());
      if (name === "cluster") return sub === "slots" ? slots() : bulk("cluster_state:ok");
      if (!name.startsWith("eval")) return answering(undefined)(command, socket);
      const slot = slotOf(command[3] ?? "");
      const holder = slot < firstSlotOfSecond ? 0 : 1;
      if (holder !== index) return `-MOVED ${slot} 127.0.0.1:${ports[holder]}\r\n`;
      const reply = answers[index](command);
      if (reply !== BREAK) return reply;
      socket.destroy();
      return undefined;
    });
  const nodes = [await start(0), await start(1)] as const;
  ports.push(...nodes.map(({ port }) => port));
  const open = async (): Promise<ValkeyClient> =>
    (await openUp(nodes.map(({ url }) => url).join(","))).client;
  return { nodes, answers, open };
}

const evals = ({ commands }: FakeStore): number =>
  commands.filter(([name]) => name?.startsWith("eval")).length;

test("a node of a cluster that breaks off under way: the call is refused, and sent to nobody again", async () => {
  const { nodes, answers, open } = await startFakeCluster(LAST_SLOT + 1);
  const bucket = createValkeyTokenBucket(await open());
  answers[0] = () => BREAK;
  const { away, tookMs } = await outcomeOf(() => bucket.take(policy, "someone"));
  expect(away).toBeDefined();
  expect(tookMs).toBeLessThan(DEADLINE_MS);
  await pass(400);
  expect(nodes.map(evals)).toEqual([1, 0]);
  answers[0] = () => TAKEN_REPLY;
  await expect
    .poll(async () => (await outcomeOf(() => bucket.take(policy, "someone"))).value?.allowed)
    .toBe(true);
});

test("one silent node of a cluster: its callers are refused in time, the others go on, its connection is left", async () => {
  const { nodes, answers, open } = await startFakeCluster(8_192);
  const bucket = createValkeyTokenBucket(await open());
  const connectionsBefore = nodes[0].accepted();
  answers[0] = () => undefined;
  let who = 0;
  const load = startLoad(() => bucket.take(policy, `fan-${(who += 1)}`), { perSecond: 500 });
  await pass(1_200);
  const { answered, away, wrong, slowestMs } = await load.stop();
  expect(wrong).toEqual([]);
  expect(slowestMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
  // Half of the slots each, and half of them go on.
  expect(answered).toBeGreaterThan(150);
  expect(away).toBeGreaterThan(150);
  expect(nodes[0].accepted()).toBeGreaterThan(connectionsBefore);
  answers[0] = () => TAKEN_REPLY;
  const all = async (): Promise<number> => {
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        outcomeOf(() => bucket.take(policy, `again-${index}`)),
      ),
    );
    return outcomes.filter((outcome) => outcome.away === undefined).length;
  };
  await expect.poll(all, { timeout: 3_000 }).toBe(40);
});

test("one reply that says MOVED, from a server of no cluster, loses nobody the store for good", async () => {
  let forged = true;
  const fake = await startFakeStore((command, socket) => {
    const [name = ""] = command.map((word) => word.toLowerCase());
    if (name === "cluster") return "-ERR This instance has cluster support disabled\r\n";
    if (name.startsWith("eval") && forged) return "-MOVED 1234 192.0.2.1:6379\r\n";
    return answering(TAKEN_REPLY)(command, socket);
  });
  const { client } = await openUp(fake.url);
  const bucket = createValkeyTokenBucket(client);
  for (let turn = 0; turn < 3; turn += 1) {
    forged = true;
    expect((await outcomeOf(() => bucket.take(policy, "someone"))).away).toBeDefined();
    forged = false;
    await expect
      .poll(async () => (await outcomeOf(() => bucket.take(policy, "someone"))).value?.allowed, {
        timeout: 3_000,
      })
      .toBe(true);
  }
});
