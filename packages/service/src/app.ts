/** A hono app with what every service of ours has: problem documents, no-store, health and readiness. */
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { Log } from "./log.ts";
import { httpProblem, logFailure, problem } from "./problems.ts";

export type ServiceEnv = { Bindings: HttpBindings };
export type ServiceApp = Hono<ServiceEnv>;
export type ServiceContext = Context<ServiceEnv>;

/** What must hold for a service to take requests. Each answers fast, and never throws. */
export type ReadinessChecks = Readonly<Record<string, () => boolean | Promise<boolean>>>;

export interface AppOptions {
  readonly log: Log;
  readonly checks: ReadinessChecks;
  /**
   * Told in the body of `/readyz` as `notes`, and never a reason to be unready: what every instance
   * shares, so that all of them would be taken out of service at once.
   */
  readonly notes?: ReadinessChecks;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

export function createApp({ log, checks, notes = {} }: AppOptions): ServiceApp {
  const app: ServiceApp = new Hono<ServiceEnv>();
  app.onError((error, context) => answerProblem(error, context, log));
  app.notFound((context) => answerProblem(notFoundOrNotAllowed(app, context), context, log));
  app.get("/healthz", (context) => noStore(context, 200, { status: "ok" }));
  app.get("/readyz", async (context) => {
    const [results, noted] = await Promise.all([readiness(checks), readiness(notes)]);
    const told = { checks: results, ...(Object.keys(noted).length === 0 ? {} : { notes: noted }) };
    if (Object.values(results).every(Boolean))
      return noStore(context, 200, { ready: true, ...told });
    throw problem("unavailable", {
      extensions: { ready: false, ...told },
      retryAfterSeconds: 1,
    });
  });
  return app;
}

/** JSON that no cache keeps: the default for everything we answer. */
export function noStore(context: ServiceContext, status: number, body: unknown): Response {
  return context.body(JSON.stringify(body), status as 200, {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
  });
}

/** `error` as a problem document; logged when it is ours (`logFailure`). */
export function answerProblem(error: unknown, context: ServiceContext, log: Log): Response {
  const { code, status, headers, body } = httpProblem(error);
  logFailure(log, error, { method: context.req.method, path: context.req.path, code, status });
  return context.body(body, status as 200, {
    ...headers,
    // Whatever of the body is still on its way is not worth waiting for.
    ...(status === 413 ? { Connection: "close" } : {}),
  });
}

async function readiness(checks: ReadinessChecks): Promise<Record<string, boolean>> {
  const entries = Object.entries(checks).map(
    async ([name, check]) => [name, await Promise.resolve(check()).catch(() => false)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

function notFoundOrNotAllowed(app: ServiceApp, context: ServiceContext): Error {
  const allow = METHODS.filter((method) =>
    app.router
      .match(method === "HEAD" ? "GET" : method, context.req.path)[0]
      .some(([[, route]]) => route.method !== "ALL"),
  );
  return allow.length === 0
    ? problem("not-found")
    : problem("method-not-allowed", { extensions: { allow } });
}
