/** The command line without a process: every wait moves the clock, and all that is written is kept. */
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { systemSecretFiles } from "../../src/secret-files.system.ts";
import type { HttpRequest, Platform, Screen, SecretFiles, Send } from "../../src/platform.ts";
import { runCli } from "../../src/run-cli.ts";
import { FakeMint, MINT_URL, TOKEN } from "./fake-mint.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The last line of stdout. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what every command prints
  readonly json: any;
}

export interface Run {
  readonly environment?: Record<string, string | undefined>;
  readonly isTerminal?: boolean;
  readonly color?: boolean;
  readonly unicode?: boolean;
  readonly columns?: number;
  /** What is typed when it asks; without it nobody is there. */
  readonly answer?: string;
  /** Called with every wait: a test that presses Ctrl-C says true. */
  readonly interrupt?: (waits: number) => boolean;
  readonly files?: Record<string, string>;
  /** In place of the machine's own. */
  readonly secretFiles?: SecretFiles;
  /** Answers of others than the mint. */
  readonly elsewhere?: Send;
}

export class World {
  readonly clock: FakeClock;
  readonly mint: FakeMint;

  private constructor(clock: FakeClock, mint: FakeMint) {
    this.clock = clock;
    this.mint = mint;
  }

  static async start(): Promise<World> {
    const clock = new FakeClock();
    return new World(clock, await FakeMint.start(clock));
  }

  async run(args: readonly string[], given: Run = {}): Promise<Ran> {
    let out = "";
    let err = "";
    let waits = 0;
    let interrupted = false;
    const { isTerminal = false, color = false, unicode = true, columns = 80 } = given;
    const screen = (write: (text: string) => void): Screen => ({
      ...{ write, isTerminal, color, unicode, columns },
    });
    const { elsewhere, answer, interrupt } = given;
    const platform: Platform = {
      environment: given.environment ?? {
        VESTIBULE_MINT_URL: MINT_URL,
        VESTIBULE_ADMIN_TOKEN: TOKEN,
      },
      clock: this.clock,
      randomness: new SeededRandomness(7),
      sleep: async (ms) => {
        waits += 1;
        interrupted ||= interrupt?.(waits) === true;
        if (!interrupted) this.clock.advance(Math.max(1, Math.round(ms)));
        // What others have begun goes on first, as it does while real time passes.
        await new Promise((done) => setImmediate(done));
      },
      send: (request: HttpRequest) =>
        elsewhere === undefined || request.url.startsWith(MINT_URL)
          ? this.mint.send(request)
          : elsewhere(request),
      fetchText: this.mint.fetchText,
      readFile: (path) => {
        const text = given.files?.[path];
        if (text === undefined) throw new Error("ENOENT");
        return text;
      },
      secretFiles: given.secretFiles ?? systemSecretFiles((path) => path),
      out: screen((text) => (out += text)),
      err: screen((text) => (err += text)),
      ask: answer === undefined ? undefined : (text) => ((err += text), Promise.resolve(answer)),
      interrupted: {
        get is() {
          return interrupted;
        },
      },
      timeZone: "UTC",
    };
    const code = await runCli(args, platform);
    return { code, out, err, json: parsed(out.trimEnd().split("\n").at(-1) ?? "") };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
