import { epochMs } from "@vestibule/kernel/units";
import { expect, test } from "vitest";
import { planStep } from "../src/controller.ts";
import { earliestResume, resumeLine } from "../src/hold.ts";
import { lastClaimBy, maySettle, settleSegment } from "../src/lapse.ts";
import type { Segment } from "../src/line-state.ts";
import { liveCount } from "../src/segment.ts";
import { freshLine, policyOf, run, START } from "./world.ts";

const segment = (base: number, count: number, from: number, until: number): Segment => ({
  base: run(base, base).first,
  count,
  from: epochMs(from),
  until: epochMs(until),
});

test("a segment settles strictly after the last claim window: a claim in its last millisecond counts", () => {
  const piece = segment(1, 4, START, START + 400);
  const claimBy = START + 300 + 5_000;
  expect(lastClaimBy(piece, 5_000)).toBe(claimBy);
  const at = (now: number) => maySettle(piece, { claimWindowMs: 5_000, now: epochMs(now) });
  expect([at(claimBy - 1), at(claimBy), at(claimBy + 1)]).toEqual([false, false, true]);
});

test("while held, a segment that the hold cuts waits for the resume", () => {
  const piece = segment(1, 4, START, START + 400);
  const now = epochMs(START + 10_000);
  const held = (ms: number) =>
    maySettle(piece, { claimWindowMs: 5_000, now, heldSince: epochMs(START + ms) });
  expect([held(299), held(300)]).toEqual([false, true]);
});

test("lapsed slots are given back once and leave the count of admissions", () => {
  const piece = { ...segment(1, 4, START, START + 400), cutAfter: epochMs(START + 200) };
  const settled = settleSegment({ line: { ...freshLine, granted: 3 }, segment: piece, claimed: 1 });
  expect(settled.lapsed).toBe(2);
  expect(settled.line).toMatchObject({ giveBackMicro: 2_000_000, granted: 1 });
  expect(() => settleSegment({ line: freshLine, segment: piece, claimed: 4 })).toThrow(
    "claims fit",
  );
});

test("a segment that is void as a whole settles at once, with nothing lapsed", () => {
  const piece = { ...segment(1, 4, START, START + 400), cutAfter: epochMs(START - 1) };
  expect(maySettle(piece, { claimWindowMs: 5_000, now: epochMs(START) })).toBe(true);
  expect(settleSegment({ line: freshLine, segment: piece, claimed: 0 }).lapsed).toBe(0);
});

test("a resume in the hold's own second is refused and says from when it is possible", () => {
  const heldSince = epochMs(START + 1_999);
  const input = { line: freshLine, segments: [], heldSince };
  expect(earliestResume(heldSince)).toBe(START + 2_000);
  expect(resumeLine({ ...input, now: heldSince })).toEqual({
    ok: false,
    refusal: { tag: "too-early", from: START + 2_000 },
  });
  expect(resumeLine({ ...input, now: epochMs(START + 2_000) }).ok).toBe(true);
});

test("a hold cuts what opens after it, and the cut numbers come first after the resume, in order", () => {
  const policy = policyOf({ ratePerMinute: 600, horizonMs: 10_000, overdrivePercent: 150 });
  const before = planStep({
    line: freshLine,
    policy,
    now: epochMs(START),
    held: [run(1, 5_000)],
    demand: [],
  });
  const resumed = resumeLine({
    line: before.line,
    segments: before.segments,
    heldSince: epochMs(START + 2_050),
    now: epochMs(START + 60_000),
  });
  if (!resumed.ok) throw new Error("refused");
  const { cut, cutCount, cutSegments, line } = resumed.value;
  expect(cut).toEqual([run(22, 100)]);
  expect(cutCount).toBe(79);
  expect(cutSegments.reduce((sum, piece) => sum + liveCount(piece), 0)).toBe(1);
  expect(line).toMatchObject({ frontier: START + 60_000, granted: 21, nextNumber: 101 });
  const after = planStep({
    line,
    policy,
    now: epochMs(START + 60_000),
    held: [run(101, 5_000)],
    demand: cut,
  });
  expect(after.segments[0]).toMatchObject({ base: 22, from: START + 60_000 });
  expect(after.line.nextNumber).toBe(122);
  expect(after.demandServed.at(-1)?.last).toBe(100);
});

test("law 3: a short hold at a slow rate does not bring two slots closer together", () => {
  const policy = policyOf({ ratePerMinute: 1, horizonMs: 120_000, overdrivePercent: 100 });
  const { line, segments } = planStep({
    line: freshLine,
    policy,
    now: epochMs(START),
    held: [run(1, 9)],
    demand: [],
  });
  const resumed = resumeLine({
    line,
    segments,
    heldSince: epochMs(START + 1_000),
    now: epochMs(START + 2_000),
  });
  expect(resumed.ok && resumed.value.line.frontier).toBe(START + 60_000);
});

test("a second hold leaves the cuts of the first as they are", () => {
  const old = { ...segment(1, 4, START, START + 400), cutAfter: epochMs(START + 100) };
  const again = segment(3, 2, START + 5_000, START + 5_200);
  const resumed = resumeLine({
    line: { ...freshLine, granted: 4 },
    segments: [old, again],
    heldSince: epochMs(START + 5_000),
    now: epochMs(START + 6_000),
  });
  if (!resumed.ok) throw new Error("refused");
  expect(resumed.value.cutSegments).toEqual([{ ...again, cutAfter: START + 5_000 }]);
  expect(resumed.value.cut).toEqual([run(4, 4)]);
});
