/** A Valkey or Redis that is started with the sale, and started again when it ends before it. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { StartFailure, lineFor } from "./failure.ts";
import { freePort } from "./ports.ts";
import type { Store, StoreOptions } from "./store-port.ts";
import { StoreProbe } from "./store-probe.ts";
import { type StoreProgram, storeConfig } from "./store-program.ts";
import type { Part } from "./supervisor.ts";

const ANSWER_POLLS_MAX = 100;
const ANSWER_POLL_MS = 50;
const AGAIN_MS_MIN = 200;
const AGAIN_MS_MAX = 5_000;
/** Whoever ends sooner than this after a start is given more time before the next one. */
const STEADY_MS = 10_000;
/** After so many starts that failed, about ten seconds, the reader is told where to look. */
const FAILED_TOLD = 6;

export class OwnStore implements Store {
  readonly title: string;
  readonly words: string;
  readonly url: string;
  readonly note = undefined;
  readonly #program: StoreProgram;
  readonly #options: StoreOptions;
  readonly #port: number;
  readonly #probe: StoreProbe;
  readonly #closing = new AbortController();
  #isUp = false;
  #upSince = 0;
  #attempts = 0;

  private constructor(program: StoreProgram, options: StoreOptions, port: number) {
    const { family, version } = program;
    this.title = `${`${family} ${version}`.padEnd(17)}limits, seat counter`;
    this.words = `${family} ${version}, started with this sale`;
    this.url = `redis://:${options.password}@127.0.0.1:${port}`;
    this.#program = program;
    this.#options = options;
    this.#port = port;
    this.#probe = new StoreProbe(this.url);
  }

  /** @throws StartFailure when it does not answer; nothing of it is left then. */
  static async start(program: StoreProgram, options: StoreOptions): Promise<OwnStore> {
    const store = new OwnStore(program, options, await freePort(options.portBase));
    try {
      await store.#launch();
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  trouble(): string | undefined {
    const { family } = this.#program;
    const rest = `every purchase is answered "try again" (503) until it does; the line goes on.`;
    if (!this.#isUp) return `${family} does not run and is being started again: ${rest}`;
    return this.#probe.whyAway() === undefined ? undefined : `${family} does not answer: ${rest}`;
  }

  close(): Promise<void> {
    this.#closing.abort();
    return this.#probe.close();
  }

  async #launch(): Promise<void> {
    const { supervisor, directory, logs, password, path } = this.#options;
    const name = this.#program.family.toLowerCase();
    const part = await supervisor.start({
      name,
      command: this.#program.path,
      args: ["-"], // the configuration comes on standard input
      cwd: directory,
      env: { PATH: path, LANG: "C", LC_ALL: "C" },
      input: storeConfig({ port: this.#port, password }),
      stopSignal: "SIGTERM",
      stopTimeoutMs: 2_000,
      onEnd: (ended) => {
        if (this.#isUp) void this.#again(ended);
      },
    });
    for (let poll = 0; poll < ANSWER_POLLS_MAX && !part.hasEnded; poll += 1) {
      this.#options.signal.throwIfAborted();
      if (this.#probe.whyAway() === undefined) {
        this.#isUp = true;
        this.#upSince = performance.now();
        return;
      }
      await sleep(ANSWER_POLL_MS);
    }
    await part.stop();
    throw new StartFailure(
      `${this.#program.path} did not start: what it said is in ${join(logs, `${name}.log`)}`,
    );
  }

  /** Nothing is lost with it: PostgreSQL knows what was sold. Until it is back purchases are refused. */
  async #again(ended: Part): Promise<void> {
    const { family } = this.#program;
    const { say, signal } = this.#options;
    this.#isUp = false;
    if (performance.now() - this.#upSince > STEADY_MS) this.#attempts = 0;
    say(
      `${family} ended (${ended.end}): it is started again, and until then purchases are refused with 503.`,
    );
    let failed = 0;
    while (!this.#closing.signal.aborted && !signal.aborted) {
      const waitMs = Math.min(AGAIN_MS_MAX, AGAIN_MS_MIN * 2 ** Math.min(this.#attempts, 10));
      this.#attempts += 1;
      try {
        await sleep(waitMs, undefined, { signal: this.#closing.signal });
        await this.#launch();
        say(`${family} is back: purchases go on.`);
        return;
      } catch (error) {
        // The next one comes; the panel says all the while that it does not run.
        failed += 1;
        if (failed === FAILED_TOLD) say(`${family} does not come back. ${lineFor(error)}`);
      }
    }
  }
}
