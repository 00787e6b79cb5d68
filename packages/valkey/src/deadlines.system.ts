/** A call that is waited for, in the order in which they were sent. */
export interface Waiting {
  readonly fail: (error: Error) => void;
  readonly sentAtMs: number;
  /** How many replies there had been when it was sent. */
  readonly repliesBefore: number;
  older: Waiting | undefined;
  newer: Waiting | undefined;
}

/**
 * The deadlines of calls that all have the same time: whichever was sent first is due first, so that one timer is
 * enough for all of them, and a call that is answered costs none.
 */
export class Deadlines {
  readonly #deadlineMs: number;
  readonly #onDue: (call: Waiting) => void;
  #oldest: Waiting | undefined;
  #newest: Waiting | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param onDue gets each call that is not taken out in time; it is out by then. */
  constructor(deadlineMs: number, onDue: (call: Waiting) => void) {
    this.#deadlineMs = deadlineMs;
    this.#onDue = onDue;
  }

  add(fail: (error: Error) => void, repliesBefore: number): Waiting {
    const older = this.#newest;
    const sentAtMs = performance.now();
    const call: Waiting = { fail, sentAtMs, repliesBefore, older, newer: undefined };
    if (older === undefined) this.#oldest = call;
    else older.newer = call;
    this.#newest = call;
    if (this.#timer === undefined) this.#arm(this.#deadlineMs);
    return call;
  }

  /** Whether it is neither taken out nor due. */
  has(call: Waiting): boolean {
    return call.older !== undefined || call === this.#oldest;
  }

  /** Takes one out, if it is not out already. */
  remove(call: Waiting): void {
    if (!this.has(call)) return;
    const { older, newer } = call;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    call.older = undefined;
    call.newer = undefined;
  }

  /** Takes all of them out. There is no timer afterwards. */
  failAll(error: Error): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (let call = this.#oldest; call !== undefined; call = this.#oldest) {
      this.remove(call);
      call.fail(error);
    }
  }

  /** The timer is left alone while calls come and go: it goes off once a deadline, and looks what is left. */
  #arm(afterMs: number): void {
    this.#timer = setTimeout(() => {
      const now = performance.now();
      // Whatever has arrived is read first: it was this process that was late, not the store.
      setImmediate(() => this.#look(now));
    }, afterMs);
  }

  #look(now: number): void {
    this.#timer = undefined;
    const isDue = (call: Waiting): boolean => call.sentAtMs + this.#deadlineMs <= now;
    for (let call = this.#oldest; call !== undefined && isDue(call); call = this.#oldest) {
      this.remove(call);
      this.#onDue(call);
    }
    if (this.#oldest === undefined || this.#timer !== undefined) return;
    const leftMs = this.#oldest.sentAtMs + this.#deadlineMs - performance.now();
    this.#arm(Math.max(1, Math.ceil(leftMs)));
  }
}
