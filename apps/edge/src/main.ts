/** The Worker: reads its vars, wires one edge per isolate, and answers. */
import { sleep } from "@vestibule/feed/fetch-text.system";
import { runtimeVerifies } from "@vestibule/keys/runtime-check";
import { systemClock } from "@vestibule/kernel/clock.system";
import { systemRandomness } from "@vestibule/kernel/randomness.system";
import { type BindingEnv, type Bindings, readBindings } from "./bindings.ts";
import { type EdgeConfig, type EdgeEnv, readConfig } from "./config.ts";
import { createEdge } from "./create-edge.ts";
import type { EdgeHandler } from "./edge.ts";
import { createFeedCache } from "./feed-cache.system.ts";
import { problem } from "./problem.ts";

type Env = EdgeEnv & BindingEnv;

/** One per isolate: a Worker's vars never change while it runs. */
let handler: EdgeHandler | undefined;

/** Each request tries anew, and a log that says the same for each of them would hide all else. */
let isTold = false;

export default {
  fetch(request, env, ctx) {
    return handler === undefined ? first(request, env, ctx) : handler.fetch(request, ctx);
  },
} satisfies ExportedHandler<Env>;

async function first(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
  // Two first requests may both wire one: values, never a promise that another request began.
  const edge = await wire(env, request.cf?.colo);
  handler ??= edge;
  return handler?.fetch(request, ctx) ?? problem("unavailable", { retryAfterSeconds: 30 });
}

async function wire(env: Env, colo: unknown): Promise<EdgeHandler | undefined> {
  const config = readConfig(env, colo);
  if (!config.ok) {
    tellOnce(config.refusal.map((mistake) => ({ kind: "config", mistake })));
    return undefined;
  }
  try {
    return await wireParts(config.value, readBindings(env));
  } catch (error) {
    tellOnce([{ kind: "start", error: String(error) }]);
    return undefined;
  }
}

function tellOnce(lines: readonly object[]): void {
  if (!isTold) for (const line of lines) tell("error", line);
  isTold = true;
}

function wireParts(config: EdgeConfig, bindings: Bindings): Promise<EdgeHandler> {
  return createEdge({
    ...{ config, bindings },
    clock: systemClock,
    randomness: systemRandomness,
    fetch: (url, init) => fetch(url, init),
    sleep,
    cache: createFeedCache(caches),
    runtimeVerifies,
    log: (line) => {
      tell("warn", line);
    },
  });
}

/** One line of JSON. */
function tell(level: "error" | "warn", line: object): void {
  console[level](JSON.stringify({ app: "vestibule-edge", ...line }));
}
