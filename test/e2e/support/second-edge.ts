/** Another location of the same Worker: the bundle of the running system, other variables, another port. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { System } from "../start-system.ts";
import { type EdgeProcess, startEdgeProcess } from "./edge-process.ts";
import { edgeVars, literal } from "./edge-vars.ts";

export interface SecondEdge extends EdgeProcess {
  /** Everything that it was given. */
  readonly vars: Readonly<Record<string, string>>;
}

/**
 * @param options.port one of the hosts of the events it is to serve, as `127.0.0.1:port`.
 * @param options.clock the clock under it is set by requests with `Test-Clock-Off-Ms`
 */
export async function startSecondEdge(
  system: System,
  options: {
    port: number;
    mint?: string;
    origin?: string;
    purchase?: string;
    clock?: "settable";
  },
): Promise<SecondEdge> {
  const { ready, dataDir } = system;
  const { port, mint = ready.mint, origin = ready.shop, purchase = ready.purchase } = options;
  const vars = {
    ...(await edgeVars(ready)),
    MINT_URLS: literal(mint),
    ORIGIN_URL: literal(origin),
    PURCHASE_URL: literal(purchase),
    LOCATION: "second",
  };
  const bundle = join(dataDir, "edge", "edge.js");
  const script = options.clock === undefined ? bundle : join(dataDir, "edge", `edge-${port}.js`);
  if (script !== bundle) writeFileSync(script, onAnotherClock(readFileSync(bundle, "utf8")));
  const edge = await startEdgeProcess({ script, port, vars, scratch: join(dataDir, "edge") });
  return { ...edge, vars };
}

/** The Worker as it is deployed, on a machine whose clock a test sets. One isolate runs it. */
function onAnotherClock(worker: string): string {
  const exported = /export\s*\{\s*([\w$]+) as default\s*\};?/;
  const name = exported.exec(worker)?.[1];
  if (name === undefined) throw new Error("the bundle's default export is not where it was");
  return `${worker.replace(exported, "")}
    const machine = Date.now;
    let offMs = 0;
    Date.now = () => machine() + offMs;
    export default {
      fetch(request, ...rest) {
        const set = request.headers.get("test-clock-off-ms");
        if (set === null) return ${name}.fetch(request, ...rest);
        offMs = Number(set);
        return new Response(null, { status: 204 });
      },
    };`;
}
