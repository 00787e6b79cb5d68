/**
 * Three limiters side by side in one process on one server: ours, a bare EVALSHA, and another library.
 * Each has one connection with the same settings and the same number of calls under way.
 */
import { createHash } from "node:crypto";

import { connectValkey } from "@vestibule/valkey/client.system";
import type { BucketPolicy } from "@vestibule/valkey/token-bucket";
import { createValkeyTokenBucket } from "@vestibule/valkey/valkey-token-bucket";
import { Redis } from "ioredis";
import { RateLimiterRedis } from "rate-limiter-flexible";

export type ToLimiterSides =
  | { readonly type: "start"; readonly url: string; readonly floor: "evalsha" | "peer" }
  | { readonly type: "fire"; readonly side: "candidate" | "floor"; readonly count: number }
  /** Takes until refused: how many did each let through? */
  | { readonly type: "exhaust" };

export type FromLimiterSides =
  | { readonly type: "started" }
  | { readonly type: "fired"; readonly elapsedMs: number; readonly samples: readonly never[] }
  | { readonly type: "exhausted"; readonly candidate: number; readonly floor: number }
  | { readonly type: "failed"; readonly message: string };

/** Calls under way at a time: what a busy instance has. */
const UNDER_WAY = 64;
const IDENTITIES = 10_000;
/** A bucket that no run empties: what is measured is the take, and a refusal is less work than that. */
const POLICY: BucketPolicy = { name: "bench", capacity: 1_000_000, refillMs: 1 };
/** Emptied at once, for the proof that both count. */
const SMALL_CAPACITY = 10;
const SMALL_REFILL_MS = 60_000;

/** With the same key and arguments as ours, and an answer of the same form. */
const CONSTANT_SCRIPT = "return 1";

interface Side {
  readonly take: (identity: string) => Promise<unknown>;
  /** Whether a bucket of `SMALL_CAPACITY` lets `identity` through once more. */
  readonly small: (identity: string) => Promise<boolean>;
}

const identities = Array.from({ length: IDENTITIES }, (_, index) =>
  createHash("sha256").update(String(index)).digest("base64url").slice(0, 22),
);
const sides: { candidate?: Side; floor?: Side } = {};
const next = { candidate: 0, floor: 0 };

async function ours(url: string): Promise<Side> {
  const client = connectValkey({
    url,
    deadlineMs: 2_000,
    log: () => {},
  });
  while (!client.isUp()) await new Promise((resolve) => setTimeout(resolve, 5));
  const bucket = createValkeyTokenBucket(client);
  return {
    take: async (identity) => {
      const { allowed } = await bucket.take(POLICY, identity);
      if (!allowed) throw new Error("refused");
    },
    small: async (identity) => {
      const policy = { name: "small", capacity: SMALL_CAPACITY, refillMs: SMALL_REFILL_MS };
      return (await bucket.take(policy, identity)).allowed;
    },
  };
}

/** One connection with the driver's settings that matter here as ours has them. */
async function bareConnection(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    lazyConnect: true,
  });
  await redis.connect();
  return redis;
}

async function bareEvalsha(url: string): Promise<Side> {
  const redis = await bareConnection(url);
  const sha = (await redis.script("LOAD", CONSTANT_SCRIPT)) as string;
  const policy = [String(POLICY.capacity), String(POLICY.refillMs)] as const;
  return {
    // It looks at its answer, as ours does.
    take: async (identity) => {
      const answer = await redis.evalsha(sha, 1, `vst:bucket:floor:${identity}`, ...policy);
      if (answer !== 1) throw new Error("not the constant");
    },
    small: () => Promise.resolve(false),
  };
}

async function peer(url: string): Promise<Side> {
  const redis = await bareConnection(url);
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: "peer",
    points: POLICY.capacity,
    duration: Math.ceil((POLICY.capacity * POLICY.refillMs) / 1_000),
  });
  const small = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: "peer-small",
    points: SMALL_CAPACITY,
    duration: (SMALL_CAPACITY * SMALL_REFILL_MS) / 1_000,
  });
  return {
    take: (identity) => limiter.consume(identity),
    small: (identity) =>
      small.consume(identity).then(
        () => true,
        () => false,
      ),
  };
}

async function fire({ side, count }: { side: "candidate" | "floor"; count: number }) {
  const { take } = sideOf(side);
  let left = count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await take(identities[next[side]++ % IDENTITIES] ?? "");
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: UNDER_WAY }, worker));
  return { type: "fired", elapsedMs: performance.now() - startedAt, samples: [] } as const;
}

async function exhaust(): Promise<FromLimiterSides> {
  const through = async (side: Side): Promise<number> => {
    const asked = Array.from({ length: 3 * SMALL_CAPACITY }, () => side.small("exhausted"));
    return (await Promise.all(asked)).filter(Boolean).length;
  };
  return {
    type: "exhausted",
    candidate: await through(sideOf("candidate")),
    floor: await through(sideOf("floor")),
  };
}

function sideOf(name: "candidate" | "floor"): Side {
  const side = sides[name];
  if (side === undefined) throw new Error("not started");
  return side;
}

async function obey(order: ToLimiterSides): Promise<FromLimiterSides> {
  switch (order.type) {
    case "start":
      sides.candidate = await ours(order.url);
      sides.floor =
        order.floor === "evalsha" ? await bareEvalsha(order.url) : await peer(order.url);
      return { type: "started" };
    case "fire":
      return fire(order);
    case "exhaust":
      return exhaust();
  }
}

process.on("message", (order: ToLimiterSides) => {
  void obey(order)
    .catch((error: unknown) => ({ type: "failed", message: String(error) }) as const)
    .then((answer) => process.send?.(answer));
});
process.on("disconnect", () => process.exit(0));
