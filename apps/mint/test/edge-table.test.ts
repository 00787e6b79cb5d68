import type { ClockReport } from "@vestibule/contracts/edges-api";
import { epochMs } from "@vestibule/kernel/units";
import fc from "fast-check";
import { expect, test } from "vitest";
import { EdgeTable, type Heard, type Moment } from "../src/edges/edge-table.ts";
import { EDGE_PASSES_PER_ROW_MAX } from "../src/limits.ts";

type Report = Omit<ClockReport, "nonce">;

const OPTIONS = { rowsMax: 20, rowsPerSenderMax: 4, silentMs: 600_000, calmMs: 60_000 };
const START = 1_767_225_600_000;

function at(ms: number): Moment {
  return { now: epochMs(START + ms), monotonicMs: ms };
}

function heard(change: Partial<Heard> = {}, report: Partial<Report> = {}): Heard {
  return {
    location: "fra",
    sender: "aaaaaaaaaaaa",
    ...change,
    report: { state: "good", skewSeconds: 5, ...report },
  };
}

const off = (offsetMs: number): Partial<Report> => ({ estimate: { offsetMs, uncertaintyMs: 10 } });

test("a row is a location and a sender: two senders of one name are two rows", () => {
  const table = new EdgeTable(OPTIONS);
  table.hear(heard(), at(0));
  table.hear(heard({ sender: "bbbbbbbbbbbb" }), at(1));
  table.hear(heard({ location: "ams" }), at(2));
  table.hear(heard(), at(3));
  const shown = table
    .shown(3)
    .map(({ location, sender, reportedAt }) => [location, sender, reportedAt]);
  expect(shown).toEqual([
    ["ams", "aaaaaaaaaaaa", START + 2],
    ["fra", "aaaaaaaaaaaa", START + 3],
    ["fra", "bbbbbbbbbbbb", START + 1],
  ]);
});

test("a row is there until it was silent for ten minutes, whatever the clock of the day is set to", () => {
  const table = new EdgeTable(OPTIONS);
  table.hear(heard(), { now: epochMs(START), monotonicMs: 0 });
  table.hear(heard({ location: "ams" }), { now: epochMs(START + 86_400_000), monotonicMs: 1 });
  expect(table.rows(599_999)).toHaveLength(2);
  expect(table.rows(600_000)).toHaveLength(1);
  expect(table.rows(600_001)).toEqual([]);
});

test("the time of a key set is the one when the row began to say it, and says it since", () => {
  const table = new EdgeTable(OPTIONS);
  const say = (ms: number, keysSeq: number) => {
    table.hear(heard({}, { keysSeq }), at(ms));
    return table.rows(ms)[0]?.row.keysSeqAt;
  };
  expect(say(0, 1)).toBe(START);
  expect(say(30_000, 2)).toBe(START + 30_000);
  expect(say(60_000, 2)).toBe(START + 30_000);
  // An isolate that is behind: the location has not come so far yet.
  expect(say(61_000, 1)).toBe(START + 61_000);
  expect(say(90_000, 2)).toBe(START + 90_000);
});

test("an isolate that has just started hides nothing of what others of its row said, for a minute", () => {
  const table = new EdgeTable(OPTIONS);
  const say = (ms: number, report: Partial<Report>) => {
    table.hear(heard({}, report), at(ms));
    return table.rows(ms)[0]?.row;
  };
  say(0, { state: "good", keysSeq: 7, ...off(100) });
  const kept = { state: "good", keysSeq: 7, keysSeqAt: START, ...off(100) };
  expect(say(30_000, { state: "unknown" })).toMatchObject(kept);
  expect(say(59_999, { state: "unknown" })).toMatchObject(kept);
  const later = say(60_000, { state: "unknown" });
  expect(later).toMatchObject({ state: "unknown", keysSeq: 7, keysSeqAt: START });
  expect(later).not.toHaveProperty("estimate");
});

test("a newcomer to a full table is turned away and counted, and finds room when a row is gone", () => {
  const table = new EdgeTable({ ...OPTIONS, rowsPerSenderMax: 20 });
  for (let index = 0; index < 20; index += 1)
    table.hear(heard({ location: `l${index}` }), at(index));
  expect(table.hear(heard({ sender: "cccccccccccc" }), at(100))).toEqual({ kept: false });
  expect(table.turnedAway).toBe(1);
  expect(table.hear(heard({ location: "l7" }), at(101)).kept).toBe(true);
  expect(table.hear(heard({ sender: "cccccccccccc" }), at(600_000)).kept).toBe(true);
  expect(table.rows(600_000)).toHaveLength(20);
});

test("one sender has a few rows, however many names it makes up", () => {
  const table = new EdgeTable(OPTIONS);
  for (let index = 0; index < 50; index += 1)
    table.hear(heard({ location: `l${index}` }), at(index));
  expect(table.rows(50)).toHaveLength(4);
  expect(table.turnedAway).toBe(46);
  expect(table.hear(heard({ sender: "bbbbbbbbbbbb" }), at(51)).kept).toBe(true);
});

test("an alarm begins with the first bad report, and ends a minute after the last", () => {
  const table = new EdgeTable(OPTIONS);
  const say = (ms: number, report: Partial<Report>) => {
    const { change } = table.hear(heard({}, report), at(ms));
    return change === undefined ? undefined : `${change.before} ${change.alarm}`;
  };
  expect(say(0, off(0))).toBeUndefined();
  expect(say(30_000, off(3_000))).toBe("good warn");
  expect(say(40_000, off(-6_000))).toBe("warn wrong");
  // Its good neighbours, and reports that say nothing, end nothing.
  expect(say(41_000, off(0))).toBeUndefined();
  expect(say(90_000, off(-6_000))).toBeUndefined();
  expect(say(149_999, off(0))).toBeUndefined();
  expect(say(160_000, {})).toBeUndefined();
  expect(table.rows(160_000)[0]?.alarm).toBe("wrong");
  expect(table.rows(160_000)[0]?.row.state).toBe("good");
  expect(say(161_000, off(3_000))).toBe("wrong warn");
  expect(say(221_000, off(100))).toBe("warn good");
  expect(say(222_000, off(100))).toBeUndefined();
  // Nor is a good clock called good for ever by whoever cannot tell any more.
  expect(say(281_999, {})).toBeUndefined();
  expect(table.rows(281_999)[0]?.alarm).toBe("good");
  say(282_000, {});
  expect(table.rows(282_000)[0]?.alarm).toBe("unknown");
});

test("the mint judges by the figures, whatever the row calls itself", () => {
  const table = new EdgeTable(OPTIONS);
  table.hear(heard({}, { state: "good", ...off(60_000) }), at(0));
  table.hear(heard({ location: "ams" }, { state: "wrong", ...off(0) }), at(0));
  expect(table.rows(0).map(({ row, alarm }) => [row.location, row.state, alarm])).toEqual([
    ["fra", "good", "wrong"],
    ["ams", "wrong", "good"],
  ]);
});

test("a liar spoils rows of its own alone, whatever it sends, and the table stays within its bounds", () => {
  const honest = ["fra", "ams", "cdg"].map((location, index) =>
    heard({ location, sender: `honest-${index}` }, { keysSeq: 7, ...off(index) }),
  );
  const lie = fc.record({
    location: fc.oneof(fc.constantFrom("fra", "ams", "cdg"), fc.string({ maxLength: 64 })),
    sender: fc.integer({ min: 0, max: 40 }).map((n) => `liar-${n}`),
    report: fc.record({
      state: fc.constantFrom("unknown", "good", "warn", "wrong"),
      skewSeconds: fc.integer({ min: 0, max: 60 }),
      keysSeq: fc.integer({ min: 0 }),
      estimate: fc.record({
        offsetMs: fc.integer({ min: -1e13, max: 1e13 }),
        uncertaintyMs: fc.integer({ min: 0, max: 1e13 }),
      }),
    }),
  });
  const round = fc.record({
    lies: fc.array(lie, { maxLength: 40 }),
    ms: fc.integer({ min: 1, max: 599_999 }),
  });
  fc.assert(
    fc.property(
      fc.array(round as fc.Arbitrary<{ lies: Heard[]; ms: number }>, { maxLength: 12 }),
      (rounds) => {
        const table = new EdgeTable(OPTIONS);
        let ms = 0;
        for (const each of honest) table.hear(each, at(ms));
        for (const { lies, ms: passed } of rounds) {
          for (const each of lies) table.hear(each, at(ms));
          ms += passed;
          for (const each of honest) expect(table.hear(each, at(ms))).toEqual({ kept: true });
          const rows = table.rows(ms);
          expect(rows.length).toBeLessThanOrEqual(OPTIONS.rowsMax);
          const bySender = Map.groupBy(rows, ({ row }) => row.sender);
          for (const [sender, own] of bySender) {
            expect(own.length).toBeLessThanOrEqual(OPTIONS.rowsPerSenderMax);
            if (!sender.startsWith("honest")) continue;
            const said = honest.find((each) => each.sender === sender);
            expect(own.map(({ row, alarm }) => ({ row, alarm }))).toEqual([
              {
                alarm: "good",
                row: {
                  location: said?.location,
                  sender,
                  ...said?.report,
                  keysSeqAt: START,
                  reportedAt: START + ms,
                },
              },
            ]);
          }
          for (const each of honest) expect(bySender.has(each.sender)).toBe(true);
        }
      },
    ),
  );
});

test("passes are summed by rule as long as their row is there, and so many rules a row", () => {
  const table = new EdgeTable(OPTIONS);
  const row = { location: "fra", sender: "aaaaaaaaaaaa" };
  const passes = (rule: number, count = 1) => [{ event: "spring", rule, count }];
  table.addPasses(row, passes(0));
  expect(table.rows(0)).toEqual([]);
  table.hear(heard(), at(0));
  expect(table.shown(0)[0]).not.toHaveProperty("passes");
  table.addPasses(row, passes(3, 2));
  table.hear(heard(), at(30_000));
  table.addPasses(row, [...passes(3, 5), ...passes(1)]);
  expect(table.shown(30_000)[0]?.passes).toEqual([...passes(3, 7), ...passes(1)]);
  for (let rule = 0; rule < 2 * EDGE_PASSES_PER_ROW_MAX; rule += 1)
    table.addPasses(row, passes(rule));
  expect(table.shown(30_000)[0]?.passes).toHaveLength(EDGE_PASSES_PER_ROW_MAX);
  expect(table.shown(30_000)[0]?.passes?.[0]).toEqual({ event: "spring", rule: 3, count: 8 });
  table.hear(heard(), at(30_000 + OPTIONS.silentMs));
  expect(table.shown(30_000 + OPTIONS.silentMs)[0]).not.toHaveProperty("passes");
});
