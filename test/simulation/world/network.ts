/** Messages between machines: late, lost, doubled, overtaken by others, or cut off altogether. */
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import type { Machine } from "./machine.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface Weather {
  /** In a thousand messages. */
  lostPermille: number;
  doubledPermille: number;
  /** Late by up to `lateMsMax`, so that others overtake it. */
  latePermille: number;
  readonly lateMsMax: number;
}

export type Outcome<Answer> =
  | { readonly kind: "answer"; readonly answer: Answer; readonly roundTripMs: number }
  /** Nothing came within the deadline. */
  | { readonly kind: "timeout" }
  /** Nobody listens, or the connection was reset. */
  | { readonly kind: "unreachable" };

export interface Call<Answer> {
  readonly from: Machine;
  /** Looked up when the message arrives: a process that was restarted is another one. */
  readonly to: () => Machine | undefined;
  /** Names the way there, which can be cut. */
  readonly link: string;
  readonly deadlineMs: number;
  /** On one connection: nothing is doubled, nothing lost but with all of it. */
  readonly isReliable?: boolean;
  /** Runs at the receiver; never rejects. Doubled messages run it twice. */
  readonly serve: (to: Machine) => Promise<Answer>;
}

const HOP_MS_MAX = 40;

export class Network {
  readonly weather: Weather = {
    lostPermille: 0,
    doubledPermille: 0,
    latePermille: 0,
    lateMsMax: 5_000,
  };
  readonly #time: VirtualTime;
  readonly #random: SeededRandomness;
  readonly #cut = new Set<string>();

  constructor(time: VirtualTime, random: SeededRandomness) {
    this.#time = time;
    this.#random = random;
  }

  cut(link: string): void {
    this.#cut.add(link);
  }

  mend(link: string): void {
    this.#cut.delete(link);
  }

  mendAll(): void {
    this.#cut.clear();
    Object.assign(this.weather, { lostPermille: 0, doubledPermille: 0, latePermille: 0 });
  }

  isCut(link: string): boolean {
    return this.#cut.has(link);
  }

  /** One request and its answer. Always settles at the caller, unless that is dead. */
  call<Answer>(call: Call<Answer>): Promise<Outcome<Answer>> {
    const { from, to, link, deadlineMs, serve, isReliable = false } = call;
    const { promise, resolve } = Promise.withResolvers<Outcome<Answer>>();
    const askedAt = this.#time.now;
    const cancel = from.after(deadlineMs, () => {
      resolve({ kind: "timeout" });
    });
    const back = (outcome: Outcome<Answer>): void => {
      this.#send({ link, isReliable }, () => {
        from.post(() => {
          cancel();
          resolve(outcome);
        });
      });
    };
    this.#send({ link, isReliable }, () => {
      const receiver = to();
      if (receiver?.isAlive !== true) {
        back({ kind: "unreachable" });
        return;
      }
      const forget = receiver.onKill(() => {
        back({ kind: "unreachable" });
      });
      receiver.post(() => {
        void serve(receiver).then((answer) => {
          if (!receiver.isAlive) return;
          forget();
          back({ kind: "answer", answer, roundTripMs: this.#time.now - askedAt });
        });
      });
    });
    return promise;
  }

  #send({ link, isReliable }: { link: string; isReliable: boolean }, deliver: () => void): void {
    const { lostPermille, doubledPermille, latePermille } = this.weather;
    if (this.#cut.has(link) || (!isReliable && this.#happens(lostPermille))) return;
    const copies = !isReliable && this.#happens(doubledPermille) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const lateMs = this.#happens(latePermille)
        ? this.#random.integer({ min: 0, max: this.weather.lateMsMax })
        : 0;
      this.#time.after(this.#random.integer({ min: 1, max: HOP_MS_MAX }) + lateMs, () => {
        if (!this.#cut.has(link)) deliver();
      });
    }
  }

  #happens(permille: number): boolean {
    return permille > 0 && this.#random.integer({ min: 0, max: 999 }) < permille;
  }
}
