/** A device in virtual time, and a line that runs at a steady rate: what whoever waits meets, without a network. */
import type { DripView } from "@vestibule/contracts/statements";
import type { Device } from "@vestibule/client/device";
import type { LineClient, Reply } from "@vestibule/client/line-client";

export const START = 1_800_000_000_000;

interface Timer {
  readonly id: number;
  readonly at: number;
  readonly work: () => void;
}

export class VirtualDevice implements Device {
  ms = 0;
  hidden = false;
  /** As a browser slows the timers of a page that is long hidden: they fire at multiples of this only. 0: at their time. */
  wakeEveryMs = 0;
  readonly #random: () => number;
  #timers: Timer[] = [];
  #ids = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  now(): number {
    return START + this.ms;
  }
  ticks(): number {
    return this.ms;
  }
  random(): number {
    return this.#random();
  }
  isHidden(): boolean {
    return this.hidden;
  }
  isOnline(): boolean {
    return true;
  }
  startTimer(work: () => void, delayMs: number): number {
    this.#ids += 1;
    const due = this.ms + delayMs;
    const at = this.wakeEveryMs === 0 ? due : Math.ceil(due / this.wakeEveryMs) * this.wakeEveryMs;
    this.#timers.push({ id: this.#ids, at, work });
    return this.#ids;
  }
  stopTimer(timer: number): void {
    this.#timers = this.#timers.filter(({ id }) => id !== timer);
  }

  /** Lets time go by until `isOver`, or for so long. */
  async pass(ms: number, isOver: () => boolean = () => false): Promise<void> {
    const until = this.ms + ms;
    for (;;) {
      for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
      const [next] = this.#timers.toSorted((a, b) => a.at - b.at);
      if (isOver() || next === undefined || next.at > until) break;
      this.stopTimer(next.id);
      this.ms = Math.max(this.ms, next.at);
      next.work();
    }
    if (!isOver()) this.ms = until;
  }
}

/** Number `n` opens after `n` slots at this rate; the mint commits 10 s ahead. */
export class SteadyLine implements LineClient {
  readonly asked = { drip: 0, join: 0, claim: 0 };
  /** Milliseconds since the start. */
  claimedAt: number | undefined;
  readonly #device: VirtualDevice;
  readonly #perMinute: number;
  readonly #number: number;

  constructor(device: VirtualDevice, { perMinute, number }: { perMinute: number; number: number }) {
    this.#device = device;
    this.#perMinute = perMinute;
    this.#number = number;
  }

  opensAt(number: number): number {
    return Math.floor((number * 60_000) / this.#perMinute);
  }

  drip(): Promise<Reply<DripView>> {
    this.asked.drip += 1;
    const { ms } = this.#device;
    const at = START + ms;
    const slots = (until: number) => Math.max(0, Math.floor((until * this.#perMinute) / 60_000));
    const first = slots(ms - 300_000) + 1;
    const committed = slots(ms + 10_000);
    const segment = {
      ...{ base: first, count: committed - first + 1 },
      from: START + this.opensAt(first),
      until: START + this.opensAt(committed + 1),
    };
    return this.#answer({
      ...{ event: "demo", at, iat: Math.floor(at / 1000), exp: Math.floor(at / 1000) + 3_600 },
      ...{ seq: this.asked.drip, state: "open", serving: slots(ms), committed, skips: [] },
      ...{ issued: 1_000_000, rate: this.#perMinute, notice: "", cuts: [] },
      ...{ endsAt: START + 86_400_000, segments: segment.count > 0 ? [segment] : [] },
    });
  }
  join(): ReturnType<LineClient["join"]> {
    this.asked.join += 1;
    return this.#answer({ event: "demo", number: this.#number, issuedAt: this.#device.now() });
  }
  claim(): ReturnType<LineClient["claim"]> {
    this.asked.claim += 1;
    const opensAt = START + this.opensAt(this.#number);
    this.claimedAt ??= this.#device.ms;
    return this.#answer({ opensAt, closesAt: opensAt + 600_000 });
  }
  leave(): Promise<Reply<unknown>> {
    return this.#answer({});
  }

  #answer<Body>(body: Body): Promise<Reply<Body>> {
    return Promise.resolve({ ok: true, body, receivedAt: this.#device.now() });
  }
}
