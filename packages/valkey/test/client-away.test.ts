import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { describe, expect, test } from "vitest";

import { createValkeyTokenBucket } from "../src/valkey-token-bucket.ts";
import {
  answering,
  bulk,
  closedPort,
  INFO_REPLY,
  later,
  startFakeStore,
  TAKEN_REPLY,
  trickle,
} from "./support/fake-store.ts";
import {
  DEADLINE_MS,
  openClient,
  openUp,
  outcomeOf,
  pass,
  SLACK_MS,
  startLoad,
  untilUp,
} from "./support/open-client.ts";

const policy = { name: "purchase", capacity: 10, refillMs: 1_000 };

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

describe("a store that is away costs no caller more than the deadline, and no memory (RL-07)", () => {
  test("nobody listens: every call fails at once, and the client is up soon after somebody does", async () => {
    const port = await closedPort();
    const { client, said } = openClient(`redis://127.0.0.1:${port}`);
    const bucket = createValkeyTokenBucket(client);
    const load = startLoad(() => bucket.take(policy, "someone"), { perSecond: 2_000 });
    await pass(500);
    const before = heapAfterCollection();
    await pass(1_000);
    expect(heapAfterCollection() - before).toBeLessThan(3_000_000);
    expect(client.isUp()).toBe(false);
    expect(said).toEqual([
      { event: "store-away", fields: { store: `127.0.0.1:${port}`, reason: "ECONNREFUSED" } },
    ]);

    // Hammering goes on, and does not put the return off.
    const fake = await startFakeStore(answering(TAKEN_REPLY), { port });
    expect(await untilUp(client)).toBeLessThan(1_500);
    await pass(100);
    const { answered, away, wrong, slowestMs } = await load.stop();
    expect(wrong).toEqual([]);
    expect(away).toBeGreaterThan(1_500);
    expect(answered).toBeGreaterThan(20);
    expect(slowestMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    // No backlog: what it got is what was asked after it came.
    expect(fake.commands.filter(([name]) => name?.startsWith("eval")).length).toBe(answered);
  });

  test("it accepts and never answers: calls fail at once, and connections do not pile up", async () => {
    const fake = await startFakeStore(() => undefined);
    const { client, said } = openClient(fake.url);
    const bucket = createValkeyTokenBucket(client);
    const load = startLoad(() => bucket.take(policy, "someone"), { perSecond: 2_000 });
    await pass(2_200);
    const { answered, wrong, slowestMs } = await load.stop();
    expect({ answered, wrong }).toEqual({ answered: 0, wrong: [] });
    expect(slowestMs).toBeLessThan(100);
    expect(fake.accepted()).toBeLessThanOrEqual(8);
    expect(fake.connections()).toBeLessThanOrEqual(1);
    expect(fake.commands.every(([name]) => ["client", "info"].includes(name ?? ""))).toBe(true);
    expect(said[0]?.event).toBe("store-away");

    fake.answer = answering(TAKEN_REPLY);
    await untilUp(client, 2_000);
    expect(await bucket.take(policy, "someone")).toMatchObject({ allowed: true });
  });

  test("TLS that never shakes hands is given up and tried again", async () => {
    const fake = await startFakeStore(() => undefined);
    const { client } = openClient(`rediss://127.0.0.1:${fake.port}`);
    const { away, tookMs } = await outcomeOf(() =>
      createValkeyTokenBucket(client).take(policy, "a"),
    );
    expect(away).toBeDefined();
    expect(tookMs).toBeLessThan(100);
    await expect.poll(fake.accepted, { timeout: 5_000 }).toBeGreaterThanOrEqual(2);
    expect(fake.connections()).toBeLessThanOrEqual(1);
  });

  test("it falls silent: calls under way fail at the deadline, later ones at once, and none is sent again", async () => {
    const fake = await startFakeStore(answering(TAKEN_REPLY));
    const { client } = await openUp(fake.url);
    const bucket = createValkeyTokenBucket(client);
    expect(await bucket.take(policy, "before")).toMatchObject({ allowed: true });
    fake.answer = () => undefined;
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, who) =>
        outcomeOf(() => bucket.take(policy, `silent-${who}`)),
      ),
    );
    for (const { away, tookMs } of outcomes) {
      expect(away).toBeDefined();
      expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    }
    expect((await outcomeOf(() => bucket.take(policy, "next"))).tookMs).toBeLessThan(50);
    fake.answer = answering(TAKEN_REPLY);
    await untilUp(client, 2_000);
    expect(await bucket.take(policy, "after")).toMatchObject({ allowed: true });
    const asked = fake.commands.filter(([name]) => name === "evalsha").map((words) => words[3]);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked).not.toContain("vst:bucket:purchase:next");
  });

  test("it breaks off under way: calls fail at once and are not sent again on the next connection", async () => {
    let broken = 0;
    const fake = await startFakeStore((command, socket) => {
      if (command[0] !== "evalsha" || (broken += 1) > 50)
        return answering(TAKEN_REPLY)(command, socket);
      if (broken === 50) socket.destroy();
      return undefined;
    });
    const { client } = await openUp(fake.url);
    const bucket = createValkeyTokenBucket(client);
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, who) => outcomeOf(() => bucket.take(policy, `broken-${who}`))),
    );
    for (const { away, tookMs } of outcomes) {
      expect(away).toBeDefined();
      expect(tookMs).toBeLessThan(DEADLINE_MS - 50);
    }
    await untilUp(client, 2_000);
    expect(await bucket.take(policy, "after")).toMatchObject({ allowed: true });
    const asked = fake.commands.filter(([name]) => name === "evalsha");
    expect(asked).toHaveLength(51);
  });

  test("each call has its own deadline, also among others that are answered", async () => {
    const fake = await startFakeStore(answering(TAKEN_REPLY));
    const { client } = await openUp(fake.url);
    const bucket = createValkeyTokenBucket(client);
    fake.answer = ([name, , , key], socket) => {
      if (name !== "evalsha") return "+PONG\r\n";
      // Something comes at any time, so that the connection is not left as silent.
      const ms = key?.includes("late") === true ? DEADLINE_MS + 100 : DEADLINE_MS - 100;
      later(ms, () => void (socket.writable && socket.write(TAKEN_REPLY)));
      return undefined;
    };
    const take = (id: string) => outcomeOf(() => bucket.take(policy, id));
    const quick: ReturnType<typeof take>[] = [];
    const outcomes: ReturnType<typeof take>[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      quick.push(take(`quick-${turn}`));
      await pass(5);
    }
    for (let turn = 0; turn < 12; turn += 1) {
      outcomes.push(take(`late-${turn}`));
      await pass(15);
    }
    for (const { value } of await Promise.all(quick)) expect(value).toBeDefined();
    for (const { away, tookMs } of await Promise.all(outcomes)) {
      expect(away).toContain(`no answer within ${DEADLINE_MS} ms`);
      expect(tookMs).toBeGreaterThanOrEqual(DEADLINE_MS - 2);
      expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    }
  });

  test("a script that is not known, said too late, is not sent again as text", async () => {
    const fake = await startFakeStore(answering(TAKEN_REPLY));
    const { client } = await openUp(fake.url);
    const bucket = createValkeyTokenBucket(client);
    let asked = 0;
    fake.answer = ([name], socket) => {
      if (name !== "evalsha") return "+PONG\r\n";
      asked += 1;
      // One answer in time, so that the connection is not left as silent.
      const ms = asked === 1 ? DEADLINE_MS / 2 : DEADLINE_MS + 150;
      const reply = asked === 1 ? TAKEN_REPLY : "-NOSCRIPT No matching script\r\n";
      later(ms, () => void (socket.writable && socket.write(reply)));
      return undefined;
    };
    const [first, second] = await Promise.all([
      outcomeOf(() => bucket.take(policy, "first")),
      outcomeOf(() => bucket.take(policy, "second")),
    ]);
    expect(first.value).toMatchObject({ allowed: true });
    expect(second.away).toContain("no answer within");
    await pass(400);
    expect(client.isUp()).toBe(true);
    expect(fake.commands.map(([name]) => name)).not.toContain("eval");
  });

  test("it is too slow for everybody: each call ends in time, and what is owed is bounded", async () => {
    const fake = await startFakeStore(answering(TAKEN_REPLY));
    const { client } = await openUp(fake.url);
    const bucket = createValkeyTokenBucket(client);
    fake.answer = (command, socket) => {
      if (command[0] !== "evalsha") return answering(TAKEN_REPLY)(command, socket);
      later(600, () => void (socket.writable && socket.write(TAKEN_REPLY)));
      return undefined;
    };
    const load = startLoad(() => bucket.take(policy, "someone"), { perSecond: 1_000 });
    await pass(700);
    const before = heapAfterCollection();
    await pass(1_000);
    expect(heapAfterCollection() - before).toBeLessThan(8_000_000);
    const { answered, wrong, slowestMs } = await load.stop();
    expect({ answered, wrong }).toEqual({ answered: 0, wrong: [] });
    expect(slowestMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    fake.answer = answering(TAKEN_REPLY);
    await untilUp(client, 2_000);
    await expect
      .poll(async () => (await outcomeOf(() => bucket.take(policy, "a"))).value?.allowed)
      .toBe(true);
  });
});

describe("what is not this script's answer is never an answer", () => {
  test.each<[string, string]>([
    ["OK", "+OK\r\n"],
    ["nothing", "$-1\r\n"],
    ["a number", ":1\r\n"],
    ["an empty list", "*0\r\n"],
    ["the number in a list", "*1\r\n:1000\r\n"],
    ["the number as text", "$4\r\n1000\r\n"],
    ["the number as a status", "+1000\r\n"],
    ["a fraction", ",1000.5\r\n"],
    ["neither yes nor no", ":0\r\n"],
    ["allowed, with less owed than one token", ":999\r\n"],
    ["allowed, with more owed than the bucket holds", ":10001\r\n"],
    ["refused, with a token left", ":-9000\r\n"],
    ["refused, with more owed than the bucket holds", ":-10001\r\n"],
    ["a number that is no number here", ":9007199254740993\r\n"],
    ["a web server", "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"],
    ["bytes", "\u0000\u0001\u0002\u0003\r\n"],
    ["a list without end", "*2147483647\r\n"],
    ["two answers to one question", `${TAKEN_REPLY}${TAKEN_REPLY}+OK\r\n`],
    ["the text of somebody else", bulk("x".repeat(100_000))],
  ])("%s", async (_, reply) => {
    const fake = await startFakeStore(answering(reply));
    const { client } = await openUp(fake.url);
    const bucket = createValkeyTokenBucket(client);
    // Of two answers to one question not even the first is believed.
    const { away, tookMs } = await outcomeOf(() => bucket.take(policy, "someone"));
    expect(away).toBeDefined();
    expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    await expect.poll(fake.accepted).toBeGreaterThanOrEqual(2);
    fake.answer = answering(TAKEN_REPLY);
    await untilUp(client, 2_000);
    expect(await bucket.take(policy, "someone")).toMatchObject({ allowed: true });
  });

  test("an answer that trickles in and never ends is silence", async () => {
    const fake = await startFakeStore(answering(undefined));
    const { client } = await openUp(fake.url);
    fake.answer = (_, socket) => {
      socket.write("$100000\r\n");
      trickle(socket);
      return undefined;
    };
    const { away, tookMs } = await outcomeOf(() =>
      createValkeyTokenBucket(client).take(policy, "a"),
    );
    expect(away).toBeDefined();
    expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    expect(client.isUp()).toBe(false);
  });

  test.each([
    ["LOADING Redis is loading the dataset in memory", "stays"],
    ["OOM command not allowed when used memory > 'maxmemory'.", "stays"],
    ["BUSY Redis is busy running a script.", "stays"],
    ["MISCONF Redis is configured to save RDB snapshots", "stays"],
    ["NOPERM this user has no permissions to run the 'evalsha' command", "stays"],
    ["CLUSTERDOWN The cluster is down", "stays"],
    ["ERR Error running script: user_script:1: attempt to index nil", "stays"],
    ["NOSCRIPT No matching script", "stays"], // to EVAL too, which cannot be
    ["READONLY You can't write against a read only replica.", "leaves"],
    ["MASTERDOWN Link with MASTER is down", "leaves"],
    ["NOAUTH Authentication required.", "leaves"],
  ])("%s: away within the deadline, and the connection %s", async (error, what) => {
    const fake = await startFakeStore(answering(`-${error}\r\n`));
    const { client } = await openUp(fake.url);
    const { away } = await outcomeOf(() => createValkeyTokenBucket(client).take(policy, "someone"));
    expect(away).toContain(error.split(" ")[0]);
    if (what === "leaves") await expect.poll(fake.accepted).toBeGreaterThanOrEqual(2);
    else expect(fake.accepted()).toBe(1);
    fake.answer = answering(TAKEN_REPLY);
    await untilUp(client, 2_000);
    expect(await createValkeyTokenBucket(client).take(policy, "a")).toMatchObject({
      allowed: true,
    });
  });
});

describe("a server that is not ready is not used", () => {
  test.each([
    ["it is loading", "role:master\r\nloading:1", "LOADING"],
    ["it is a replica", "role:slave\r\nloading:0", "READONLY"],
    ["it says nothing of itself", "hello", "rubbish"],
  ])("%s", async (_, info, reason) => {
    const fake = await startFakeStore(([name = ""]) => (name === "info" ? bulk(info) : "+OK\r\n"));
    const { client, said } = openClient(fake.url);
    await expect.poll(fake.accepted).toBeGreaterThanOrEqual(3);
    expect(client.isUp()).toBe(false);
    expect(said.at(-1)).toMatchObject({ event: "store-away", fields: { reason } });
    // Said once, however often it is tried.
    expect(said.filter(({ event }) => event === "store-away")).toHaveLength(1);
    fake.answer = answering(TAKEN_REPLY);
    await untilUp(client, 2_000);
    expect(await createValkeyTokenBucket(client).take(policy, "a")).toMatchObject({
      allowed: true,
    });
  });
});

test("an idle connection that died is noticed by itself, before a customer does", async () => {
  const fake = await startFakeStore(answering(TAKEN_REPLY));
  const { client } = await openUp(fake.url);
  fake.answer = () => undefined;
  await expect.poll(() => client.isUp(), { timeout: 4_000 }).toBe(false);
});

test("a process that was busy longer than the deadline does not blame the store", async () => {
  const fake = await startFakeStore(answering(TAKEN_REPLY));
  const { client } = await openUp(fake.url);
  fake.answer = () => {
    // The fake lives in this process too: busy from when it has answered, before that can be read.
    queueMicrotask(() => {
      const until = performance.now() + DEADLINE_MS + 100;
      while (performance.now() < until);
    });
    return TAKEN_REPLY;
  };
  expect(await createValkeyTokenBucket(client).take(policy, "someone")).toMatchObject({
    allowed: true,
  });
  expect(client.isUp()).toBe(true);
});

test("a server that says everything back never gets the password into a message or the log", async () => {
  const password = "correct-horse-battery";
  const replies: readonly ((command: string) => string)[] = [
    (command) => command,
    (command) =>
      `-ERR unknown command, with args beginning with: ${command.replaceAll("\r\n", " ")}\r\n`,
    (command) => `${INFO_REPLY}${command}`,
    (command) => `+${command.replaceAll("\r\n", " ")}\r\n`,
  ];
  for (const reply of replies) {
    const fake = await startFakeStore((words) =>
      reply(`*${words.length}\r\n${words.map((word) => bulk(word)).join("")}`),
    );
    const url = `redis://someone:${password}@127.0.0.1:${fake.port}/3`;
    const { client, said } = openClient(url);
    const bucket = createValkeyTokenBucket(client);
    const texts: unknown[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      texts.push((await outcomeOf(() => bucket.take(policy, "someone"))).away);
      await pass(10);
    }
    expect(fake.commands.some((words) => words.includes(password))).toBe(true);
    expect(JSON.stringify([texts, said])).not.toContain(password);
  }
});

describe("close", () => {
  test("ends within a second while the server is silent, and no call is sent after it", async () => {
    const fake = await startFakeStore(answering(undefined));
    const { client } = await openUp(fake.url, { deadlineMs: 2_000 });
    const bucket = createValkeyTokenBucket(client);
    const underWay = outcomeOf(() => bucket.take(policy, "under way"));
    await pass(20);
    const since = performance.now();
    await client.close();
    expect(performance.now() - since).toBeLessThan(1_300);
    expect((await underWay).away).toBeDefined();
    expect((await outcomeOf(() => bucket.take(policy, "late"))).away).toBe("closed");
    await expect.poll(fake.connections).toBe(0);
    const accepted = fake.accepted();
    await pass(700);
    expect(fake.accepted()).toBe(accepted);
  });

  test("lets calls under way finish", async () => {
    const fake = await startFakeStore(answering(TAKEN_REPLY));
    const { client } = await openUp(fake.url);
    fake.answer = (_, socket) => {
      later(100, () => void socket.write(TAKEN_REPLY));
      return undefined;
    };
    const underWay = outcomeOf(() => createValkeyTokenBucket(client).take(policy, "under way"));
    await pass(10);
    await client.close();
    expect((await underWay).value).toMatchObject({ allowed: true });
  });

  test("ends what never was connected", async () => {
    const { client } = openClient(`redis://127.0.0.1:${await closedPort()}`);
    await client.close();
    await client.close();
    expect(client.isUp()).toBe(false);
  });
});
