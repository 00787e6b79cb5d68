/** Another location of the same Worker: the bundle of the running system, other variables, another port. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

import { ROOT, type System } from "../start-system.ts";
import { send } from "./app.ts";
import { eventually } from "./eventually.ts";

export interface SecondEdge {
  readonly url: string;
  /** Everything that it was given. */
  readonly vars: Readonly<Record<string, string>>;
  stop(): Promise<void>;
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
  const jwks = await send(`${ready.mint}/.well-known/jwks.json`);
  const manifest = await send(`${ready.mint}/v1/manifest`);
  const claims = Buffer.from(manifest.text.split(".")[1] ?? "", "base64url").toString();
  const literal = (url: string): string => url.replace("localhost", "127.0.0.1");
  const vars = {
    MINT_URLS: literal(mint),
    ORIGIN_URL: literal(origin),
    PURCHASE_URL: literal(purchase),
    ISSUER: (JSON.parse(claims) as { iss: string }).iss,
    JWKS: jwks.text,
    LOCATION: "second",
  };
  const bundle = join(dataDir, "edge", "edge.js");
  const script = options.clock === undefined ? bundle : join(dataDir, "edge", `edge-${port}.js`);
  if (script !== bundle) writeFileSync(script, onAnotherClock(readFileSync(bundle, "utf8")));
  const toml = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const child = spawn(process.execPath, [join(ROOT, "apps/demo/src/edge-host.ts")], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      PATH: process.env["PATH"] ?? "",
      TMPDIR: join(dataDir, "edge"),
      EDGE_OPTIONS: JSON.stringify({
        script,
        port,
        compatibilityDate: /^compatibility_date = "(.*)"$/m.exec(toml)?.[1],
        compatibilityFlags: ["no_nodejs_compat", "no_nodejs_compat_v2"],
        bindings: vars,
      }),
    },
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually("the second edge listens", () => isListening(port), { withinMs: 60_000 });
  return { url, vars, stop: () => stop(child) };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, "127.0.0.1");
    probe.on("connect", () => resolve(probe.destroy() !== undefined));
    probe.on("error", () => resolve(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;
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
