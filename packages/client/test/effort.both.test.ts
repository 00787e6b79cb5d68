/** What a join may take besides asking: work, or patience. Either is said calmly, and done without a press. */
import type { ProofOfWork } from "@vestibule/contracts/line-api";
import { describe, expect, test } from "vitest";
import type { LineClient, Proof, Refusal } from "../src/line-client.ts";
import { prove, zeroBits } from "../src/proof.ts";
import type { View } from "../src/view.ts";
import { Waiting, type WaitingPorts } from "../src/waiting.ts";

const NOW = 1_800_000_000_000;
const WORK: ProofOfWork = { bits: 12, text: "t".repeat(43), at: NOW / 1_000 };

/** A page whose joins are answered by `answers`, in order; the last one again and again. */
class Page {
  ms = 0;
  readonly views: View[] = [];
  readonly joins: (Proof | undefined)[] = [];
  #timers: { readonly id: number; readonly at: number; readonly work: () => void }[] = [];
  #ids = 0;
  readonly waiting: Waiting;

  wentBack = 0;

  /** @param number of the place that the page was written for */
  constructor(
    answers: Partial<Refusal>[],
    more: Pick<WaitingPorts, "prove"> = {},
    number?: number,
  ) {
    const refusal = (answer: Partial<Refusal>): Refusal => ({
      ...{ ok: false, status: 0, retryAfterMs: 0 },
      ...answer,
    });
    const line: LineClient = {
      drip: () => new Promise(() => undefined),
      leave: () => Promise.resolve({ ok: true, body: {}, receivedAt: this.now() }),
      claim: () => new Promise(() => undefined),
      join: (proof) => {
        this.joins.push(proof);
        const answer = answers[Math.min(this.joins.length, answers.length) - 1] ?? {};
        if (answer.status !== 201) return Promise.resolve(refusal(answer));
        const body = { event: "demo", number: 7, issuedAt: NOW };
        return Promise.resolve({ ok: true, body, receivedAt: this.now() });
      },
    };
    const settings = {
      ...{ event: "demo", homePath: "/demo", lifetimeSeconds: 600 },
      ...{ claimWindowSeconds: 180, endsAt: NOW + 86_400_000 },
    };
    this.waiting = new Waiting({ settings, now: NOW, number }, NOW, {
      line,
      device: {
        now: () => this.now(),
        ticks: () => this.ms,
        random: () => 0.5,
        isHidden: () => false,
        isOnline: () => true,
        startTimer: (work, delayMs) => {
          this.#ids += 1;
          this.#timers.push({ id: this.#ids, at: this.ms + delayMs, work });
          return this.#ids;
        },
        stopTimer: (id) => {
          this.#timers = this.#timers.filter((timer) => timer.id !== id);
        },
      },
      shell: {
        show: (view) => this.views.push(view),
        enter: () => true,
        tell: () => undefined,
        goBack: () => {
          this.wentBack += 1;
        },
      },
      ...more,
    });
    this.waiting.start();
  }

  now(): number {
    return NOW + this.ms;
  }

  get view(): View | undefined {
    return this.views.at(-1);
  }

  async pass(ms: number): Promise<void> {
    const until = this.ms + ms;
    for (;;) {
      for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
      const next = this.#timers.toSorted((one, other) => one.at - other.at)[0];
      if (next === undefined || next.at > until) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.ms = next.at;
      next.work();
    }
    this.ms = until;
  }
}

describe("a join that is limited", () => {
  test("stays calm, says why, waits as long as it was asked to, and tries again by itself", async () => {
    const page = new Page([{ status: 429, retryAfterMs: 9_000 }, { status: 201 }]);
    await page.pass(8_999);
    expect(page.joins).toHaveLength(1);
    expect(page.view).toMatchObject({ state: "joining", effort: "limited" });
    await page.pass(9_000);
    expect(page.joins).toHaveLength(2);
    expect(page.view?.number).toBe(7);
    expect(page.view?.effort).toBeUndefined();
  });
});

describe("a join that takes work", () => {
  test("does it, says that it does, and comes again with what it found", async () => {
    let done = (_counter: number): void => undefined;
    const asked: ProofOfWork[] = [];
    const page = new Page([{ status: 428, proofOfWork: WORK }, { status: 201 }], {
      prove: (work) => {
        asked.push(work);
        return new Promise((resolve) => (done = resolve));
      },
    });
    await page.pass(5_000);
    expect(asked).toEqual([WORK]);
    expect(page.view).toMatchObject({ state: "joining", effort: "proving" });
    expect(page.joins).toEqual([undefined]);
    done(4711);
    await page.pass(0);
    expect(page.joins).toEqual([undefined, { at: WORK.at, counter: 4711 }]);
    expect(page.view?.number).toBe(7);
    expect(page.view?.effort).toBeUndefined();
  });

  test("does it once, however often the join is limited or no mint is there", async () => {
    let worked = 0;
    const busy = [
      { status: 429, retryAfterMs: 9_000 },
      { status: 503, retryAfterMs: 9_000 },
    ];
    const page = new Page([{ status: 428, proofOfWork: WORK }, ...busy, { status: 201 }], {
      prove: () => Promise.resolve((worked += 1)),
    });
    await page.pass(60_000);
    const proof = { at: WORK.at, counter: 1 };
    expect(page.joins).toEqual([undefined, proof, proof, proof]);
    expect(worked).toBe(1);
    expect(page.view?.number).toBe(7);
  });

  test("does it anew where more is asked for, or what was found is too old", async () => {
    let worked = 0;
    const [again, more] = [{ status: 429 }, { ...WORK, bits: WORK.bits + 1, at: WORK.at + 900 }];
    const answers = [{ status: 428, proofOfWork: WORK }, again, { status: 428, proofOfWork: more }];
    const page = new Page([...answers, { status: 201 }], {
      prove: () => Promise.resolve((worked += 1)),
    });
    await page.pass(60_000);
    expect(page.joins.at(-1)).toEqual({ at: more.at, counter: 2 });
    expect(page.view?.number).toBe(7);
  });

  test("asks again where the work was done in vain, and not all the time", async () => {
    const page = new Page([{ status: 428, proofOfWork: WORK }], {
      prove: () => Promise.resolve(1),
    });
    await page.pass(60_000);
    expect(page.joins.length).toBeGreaterThan(2);
    expect(page.joins.length).toBeLessThan(20);
  });
});

test("a page of somebody with a place has no means to work: whoever left and joins again loads another", async () => {
  const page = new Page([{ status: 428, proofOfWork: WORK }], {}, 5);
  await page.pass(1_000);
  await page.waiting.leave();
  expect(page.wentBack).toBe(0);
  await page.waiting.join();
  expect([page.joins.length, page.wentBack]).toEqual([1, 1]);
});

describe("the work", () => {
  const sha256 = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));

  test.each([0, 1, 7, 12])("finds a counter for %i bits, and then hashes no more", async (bits) => {
    let hashes = 0;
    const counter = await prove({ ...WORK, bits }, (text) => {
      hashes += 1;
      return sha256(text);
    });
    expect(zeroBits(await sha256(`${WORK.text}${counter}`))).toBeGreaterThanOrEqual(bits);
    const before = hashes;
    for (let turns = 0; turns < 20; turns += 1) await sha256("");
    expect(hashes).toBe(before);
  });

  test("gives a browser a turn between every 512 hashes", async () => {
    const [wrong, found] = [0xff, 0x0f].map((byte) => new Uint8Array(32).fill(byte).buffer);
    let hashes = 0;
    const breaths: number[] = [];
    const counter = await prove(
      { ...WORK, bits: 4 },
      () => Promise.resolve((hashes += 1) > 1_700 ? found : wrong) as Promise<ArrayBuffer>,
      () => {
        breaths.push(hashes);
        return Promise.resolve();
      },
    );
    expect(breaths).toEqual([512, 1_024, 1_536]);
    expect(counter).toBe(1_700);
  });

  test.each([
    ["", 0],
    ["abc", 0],
    ["t98", 10],
    ["t2125", 14],
  ])("counts zero bits of the hash: %j", async (text, bits) => {
    expect(zeroBits(await sha256(text))).toBe(bits);
  });
});
