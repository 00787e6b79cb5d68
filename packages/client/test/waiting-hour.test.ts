/** The real client, waiting an hour: what it costs, and that a tab behind others comes in time. */
import { readFileSync } from "node:fs";
import { Waiting } from "@vestibule/client/waiting";
import { describe, expect, test } from "vitest";
import { START, SteadyLine, VirtualDevice } from "./virtual-device.ts";

const HOUR = 3_600_000;
const PER_MINUTE = 1_000;
/** Of the figures in the docs. */
const MARGIN = 0.05;
const FANS = 60;

/** A small generator (mulberry32): the same fans whenever the test runs. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Waited {
  readonly line: SteadyLine;
  readonly enteredAt: number | undefined;
}

async function wait(
  seed: number,
  how: { hidden: boolean; claimWindowSeconds?: number; wakeEveryMs?: number; waitMs?: number },
): Promise<Waited> {
  const device = new VirtualDevice(randomOf(seed));
  const number = Math.round(((how.waitMs ?? HOUR) / 60_000) * PER_MINUTE);
  const line = new SteadyLine(device, { perMinute: PER_MINUTE, number });
  let enteredAt: number | undefined;
  const settings = {
    ...{ event: "demo", homePath: "/events/demo", endsAt: START + 24 * HOUR },
    ...{ lifetimeSeconds: 600, claimWindowSeconds: how.claimWindowSeconds ?? 180 },
  };
  const waiting = new Waiting({ settings, now: START }, START, {
    device,
    line,
    shell: {
      show: () => undefined,
      enter: () => {
        enteredAt ??= device.ms;
        return true;
      },
      tell: () => undefined,
      goBack: () => undefined,
    },
  });
  waiting.start();
  await device.pass(2_000);
  device.hidden = how.hidden;
  await device.pass(300_000);
  device.wakeEveryMs = how.wakeEveryMs ?? 0;
  await device.pass(2 * HOUR, () => enteredAt !== undefined);
  return { line, enteredAt };
}

async function requestsPerFan(hidden: boolean): Promise<number> {
  let sum = 0;
  for (let seed = 1; seed <= FANS; seed += 1) {
    const { line, enteredAt } = await wait(seed, { hidden });
    expect(enteredAt).toBeDefined();
    sum += line.asked.drip + line.asked.join + line.asked.claim;
  }
  return sum / FANS;
}

/** Millions, as the docs have it. */
function stated(what: string): number {
  const docs = readFileSync(new URL("../../../docs/client.md", import.meta.url), "utf8");
  const [, figure] = new RegExp(`\\| ${what}[^|]*\\| ([\\d.]+) million`).exec(docs) ?? [];
  return Number(figure);
}

describe("1,000,000 fans who wait an hour", () => {
  test.each([
    ["looking at the page", false],
    ["in a tab behind others", true],
  ] as const)("%s: as many requests as the docs say", async (what, hidden) => {
    const perFan = await requestsPerFan(hidden);
    const figure = stated(what);
    expect(Math.abs(perFan - figure), `${perFan.toFixed(1)} million`).toBeLessThan(figure * MARGIN);
  });

  test("need no look near their turn, and one claim each", async () => {
    const { line } = await wait(7, { hidden: false });
    expect(line.asked).toMatchObject({ join: 1, claim: 1 });
  });
});

describe("a tab that is hidden for long, and woken once a minute", () => {
  test.each([120, 180])(
    "claims in time with %i s to claim, and goes in at most a minute and a little after its turn opened",
    async (claimWindowSeconds) => {
      for (let fan = 0; fan < 40; fan += 1) {
        const waitMs = (0.25 + (fan % 8) / 8) * HOUR + fan * 7_919;
        const how = { hidden: true, wakeEveryMs: 60_000, claimWindowSeconds, waitMs };
        const { line, enteredAt = Infinity } = await wait(fan, how);
        const opensAt = line.opensAt(Math.round((waitMs / 60_000) * PER_MINUTE));
        expect(line.claimedAt, `fan ${fan}`).toBeLessThanOrEqual(
          opensAt + claimWindowSeconds * 1000,
        );
        expect(enteredAt, `fan ${fan}`).toBeLessThanOrEqual(
          opensAt + claimWindowSeconds * 1000 + 60_000,
        );
      }
    },
  );
});
