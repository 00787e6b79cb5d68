/** The command line as a process: the real clock, terminal, network and signals. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { createFetchText } from "@vestibule/feed/fetch-text.system";
import { readAtMost } from "@vestibule/feed/read-at-most";
import { systemClock } from "@vestibule/kernel/clock.system";
import { systemRandomness } from "@vestibule/kernel/randomness.system";
import { ANSWER_BYTES_MAX, COLUMNS_DEFAULT, COLUMNS_MIN, REQUEST_DEADLINE_MS } from "./limits.ts";
import { type Platform, type Screen, type Send, UnreachableError } from "./platform.ts";
import { systemSecretFiles } from "./secret-files.system.ts";
import { runCli } from "./run-cli.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** npx and pnpm pass on a signal that the terminal has sent us as well: one press, two signals. */
const SAME_PRESS_MS = 500;

/** @returns the exit code. */
export async function start(): Promise<number> {
  const stop = new AbortController();
  let askedAt: number | undefined;
  const ask = (): void => {
    if (askedAt !== undefined && performance.now() - askedAt > SAME_PRESS_MS) process.exit(130);
    askedAt ??= performance.now();
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, ask);
  // `| head` has read enough: there is nobody left to tell anything.
  process.stdout.on("error", ask);
  process.stderr.on("error", ask);
  try {
    return await runCli(process.argv.slice(2), platform(stop.signal));
  } finally {
    for (const signal of SIGNALS) process.off(signal, ask);
  }
}

function platform(signal: AbortSignal): Platform {
  const environment = process.env;
  // pnpm runs us in the project; a relative path is meant from where the command was typed.
  const isScript = environment["npm_lifecycle_event"] !== undefined;
  const directory = (isScript ? environment["INIT_CWD"] : undefined) ?? process.cwd();
  return {
    environment,
    clock: systemClock,
    randomness: systemRandomness,
    sleep: (ms) => sleepUntil(ms, signal),
    send,
    fetchText: createFetchText(fetch),
    readFile: (path) => readFileSync(resolve(directory, path), "utf8"),
    secretFiles: systemSecretFiles((path) => resolve(directory, path)),
    out: screenOf(process.stdout),
    err: screenOf(process.stderr),
    ask: process.stdin.isTTY && process.stderr.isTTY ? (text) => question(text, signal) : undefined,
    interrupted: {
      get is() {
        return signal.aborted;
      },
    },
  };
}

const send: Send = async ({ method = "GET", url, headers = {}, body, deadlineMs }) => {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(deadlineMs ?? REQUEST_DEADLINE_MS);
  try {
    const answer = await fetch(url, {
      ...{ method, redirect: "manual", signal },
      headers: {
        Accept: "application/json",
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const bytes = await readAtMost(answer.body?.getReader(), ANSWER_BYTES_MAX);
    if (bytes === undefined) throw new UnreachableError("the answer is too long");
    const roundTripMs = performance.now() - startedAt;
    const text = new TextDecoder().decode(bytes);
    return { status: answer.status, headers: answer.headers, text, roundTripMs };
  } catch (error) {
    throw error instanceof UnreachableError ? error : new UnreachableError(reasonOf(error));
  }
};

/** Codes of the system say enough; messages may repeat what was sent. */
function reasonOf(error: unknown): string {
  const { name, cause } = (error ?? {}) as { name?: unknown; cause?: { code?: unknown } };
  if (name === "TimeoutError") return "not in time";
  return typeof cause?.code === "string" ? cause.code : "the connection failed";
}

function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

function question(text: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise<string>((done) => {
    lines.once("close", () => done(""));
    // In its raw mode the terminal sends no signal: what was pressed comes here.
    lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    signal.addEventListener("abort", () => lines.close());
    lines.question(text, done);
  }).finally(() => lines.close());
}

function screenOf(stream: NodeJS.WriteStream): Screen {
  const { LC_ALL, LC_CTYPE, LANG, TERM, NO_COLOR } = process.env;
  const isTerminal = stream.isTTY ? TERM !== "dumb" : false;
  // As the C library reads them: the first that says anything.
  const locale = [LC_ALL, LC_CTYPE, LANG].find((name) => name !== undefined && name !== "") ?? "";
  return {
    write: (text) => void stream.write(text),
    isTerminal,
    get columns() {
      return Math.max(COLUMNS_MIN, stream.columns ?? COLUMNS_DEFAULT);
    },
    // https://no-color.org: any value that is not empty.
    color: isTerminal && (NO_COLOR ?? "") === "",
    unicode: /utf-?8/i.test(locale) && TERM !== "dumb",
  };
}
