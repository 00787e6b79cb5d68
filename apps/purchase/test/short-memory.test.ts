import { expect, test } from "vitest";
import { createShortMemory } from "../src/short-memory.ts";

/** A memory whose time goes on when the test says so. */
function memory(entriesMax = 10) {
  const sleeping: (() => void)[] = [];
  let looks = 0;
  const kept = createShortMemory<number>({
    keepMs: 250,
    entriesMax,
    sleep: () => new Promise((resolve) => sleeping.push(resolve)),
  });
  const look = async (): Promise<number> => (looks += 1);
  const pass = async (): Promise<void> => {
    for (const wake of sleeping.splice(0)) wake();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { kept, look, pass, looks: () => looks };
}

test("however many ask, one look answers them, until its time is over", async () => {
  const { kept, look, pass } = memory();
  const all = () => Promise.all(Array.from({ length: 1_200 }, () => kept.ask("spring", look)));
  expect(new Set(await all())).toEqual(new Set([1]));
  expect(new Set(await all())).toEqual(new Set([1]));
  expect(await kept.ask("autumn", look)).toBe(2);
  await pass();
  expect(new Set(await all())).toEqual(new Set([3]));
});

test("what is forgotten is looked at anew, and an older answer's end does not end the newer one", async () => {
  const { kept, look, pass } = memory();
  expect(await kept.ask("spring", look)).toBe(1);
  kept.forget("spring");
  const newer = kept.ask("spring", look);
  await pass();
  expect(await newer).toBe(2);
  expect(await kept.ask("spring", look)).toBe(2);
});

test("a failure is shared by those who wait, and not kept", async () => {
  const { kept, look, pass } = memory();
  const fail = () => Promise.reject<number>(new Error("away"));
  const outcomes = await Promise.allSettled([kept.ask("spring", fail), kept.ask("spring", look)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await pass();
  expect(await kept.ask("spring", look)).toBe(1);
});

test("made-up names do not grow it", async () => {
  const { kept, look, looks } = memory(2);
  for (const name of ["a", "b", "c", "c"]) await kept.ask(name, look);
  expect(looks()).toBe(4);
  await kept.ask("a", look);
  expect(looks()).toBe(4);
});
