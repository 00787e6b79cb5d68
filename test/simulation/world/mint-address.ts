/** An address at which processes of the mint come and go. */
import type { Log } from "@vestibule/service/log";
import type { MintStore } from "@vestibule/mint/src/store/store.ts";
import type { Tokens } from "@vestibule/mint/src/tokens.ts";
import { MintProcess } from "../actors/mint-process.ts";
import type { MintAddress } from "../actors/location.ts";
import { Machine, type WallClock } from "./machine.ts";
import type { SimulatedKeys } from "./signatures.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface SlotParts {
  readonly name: string;
  readonly time: VirtualTime;
  /** The machine's: it outlives the processes. */
  readonly clock: WallClock;
  readonly keys: SimulatedKeys;
  readonly storeOf: (machine: Machine) => MintStore;
  readonly watchTokens: (tokens: Tokens, machine: Machine) => Tokens;
  readonly onReturn: (shown: number, answered: number) => void;
  readonly log: Log;
}

export class MintSlot implements MintAddress {
  readonly name: string;
  readonly url: string;
  readonly clock: WallClock;
  readonly #parts: SlotParts;
  #process: MintProcess | undefined;
  #starts = 0;

  constructor(parts: SlotParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.url = `https://${parts.name}.example`;
    this.clock = parts.clock;
  }

  process(): MintProcess | undefined {
    return this.#process;
  }

  get link(): string {
    return `${this.name}>database`;
  }

  /** Unless one runs. */
  start(): void {
    if (this.#process?.machine.isAlive === true) return;
    this.#starts += 1;
    const { name, time, clock, keys, storeOf, watchTokens, onReturn, log } = this.#parts;
    const machine = new Machine(`${name}#${this.#starts}`, time, clock);
    this.#process = new MintProcess({
      ...{ machine, keys, log, onReturn, holder: machine.name },
      store: storeOf(machine),
      watchTokens: (tokens) => watchTokens(tokens, machine),
    });
    this.#process.start();
  }

  kill(): void {
    this.#process?.machine.kill();
  }

  /** SIGTERM; killed if it does not end in time, as an orchestrator does. */
  async terminate(graceMs: number): Promise<void> {
    const ending = this.#process;
    if (ending === undefined) return;
    const { machine } = ending;
    machine.after(graceMs, () => {
      machine.kill();
    });
    await ending.stop();
    machine.kill();
  }
}
