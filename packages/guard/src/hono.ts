/** For Hono 4, on any runtime. The only import of Hono is of its types. */
import type { Context, MiddlewareHandler } from "hono";
import { checkOptionsFor } from "./adapter.ts";
import type { AdapterOptions, Admission, Guard, Refused, WebResponse } from "./types.ts";

/** `c.get("admission")` behind the middleware. */
export interface AdmissionEnv {
  Variables: { admission: Admission };
}

export interface HonoOptions extends AdapterOptions<Context> {
  /** A page of the shop's own instead of the problem document. Keep `refused.reason` to the log. */
  readonly onRefused?: (refused: Refused, context: Context) => WebResponse | Promise<WebResponse>;
}

/** `app.use("/checkout/*", requireAdmission(guard))` */
export function requireAdmission(
  guard: Guard,
  options: HonoOptions = {},
): MiddlewareHandler<AdmissionEnv> {
  return async (context, next) => {
    const verdict = await guard.check(context.req.raw, {
      ...checkOptionsFor<Context>(context, options),
      waitUntil: waitUntilOf(context),
    });
    if (!verdict.ok) {
      return (await options.onRefused?.(verdict, context)) ?? verdict.response;
    }
    context.set("admission", verdict.admission);
    await next();
    return undefined;
  };
}

/** Where there is no execution context (Node), Hono's getter throws. */
function waitUntilOf(context: Context): ((work: Promise<unknown>) => void) | undefined {
  try {
    const { executionCtx } = context;
    return (work) => executionCtx.waitUntil(work);
  } catch {
    return undefined;
  }
}
