import fc from "fast-check";
import { expect, test } from "vitest";
import { BusyError, Places } from "../src/places.ts";

const step = fc.record({
  does: fc.constantFrom("enter", "enter", "exit", "leave"),
  key: fc.constantFrom(undefined, "a", "b", "c"),
  which: fc.nat(20),
});

test("whatever comes, waits, gives up and goes: bounds hold, nobody who may come in is kept waiting, all get in", async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 10 }),
    fc.integer({ min: 0, max: 12 }),
    fc.array(step, { maxLength: 80 }),
    async (size, waitersMax, steps) => {
      const places = new Places({
        places: size,
        waitersMax,
        keyShare: 0.4,
        keyWaitersShare: 0.8,
      });
      const shareMax = Math.max(1, Math.floor(size * 0.4));
      interface Call {
        readonly key: string | undefined;
        readonly leave: () => void;
        isIn: boolean;
      }
      let calls: Call[] = [];
      const inside = (key?: string) =>
        calls.filter((call) => call.isIn && (key === undefined || call.key === key));
      const waiting = () => calls.filter((call) => !call.isIn);
      const mayEnter = (key: string | undefined): boolean =>
        inside().length < size && (key === undefined || inside(key).length < shareMax);
      const goOut = async (call: Call): Promise<void> => {
        calls = calls.filter((each) => each !== call);
        places.exit(call.key);
        await Promise.resolve();
      };
      for (const { does, key, which } of steps) {
        if (does === "enter") {
          const expected = mayEnter(key);
          try {
            const { entered, leave } = places.enter(key);
            const call: Call = { key, leave, isIn: false };
            calls.push(call);
            void entered.then(() => (call.isIn = true));
            await Promise.resolve();
            expect(call.isIn).toBe(expected);
          } catch (error) {
            expect(error).toBeInstanceOf(BusyError);
            expect(expected).toBe(false);
            const sameKey = waiting().filter((call) => call.key === key).length;
            const isFull = waiting().length >= waitersMax;
            expect(isFull || (key !== undefined && sameKey >= Math.floor(waitersMax * 0.8))).toBe(
              true,
            );
          }
        } else if (does === "exit") {
          const some = inside()[which % Math.max(1, inside().length)];
          if (some !== undefined) await goOut(some);
        } else {
          const some = waiting()[which % Math.max(1, waiting().length)];
          some?.leave();
          calls = calls.filter((call) => call !== some);
        }
        expect(inside().length).toBeLessThanOrEqual(size);
        for (const each of ["a", "b", "c"])
          expect(inside(each).length).toBeLessThanOrEqual(shareMax);
        for (const call of waiting()) expect(mayEnter(call.key)).toBe(false);
      }
      for (let [first] = inside(); first !== undefined; [first] = inside()) await goOut(first);
      expect(calls).toEqual([]);
    },
  );
  await fc.assert(property);
});

test("of those that may come in, whoever waits longest is first", async () => {
  const places = new Places({ places: 2, waitersMax: 10, keyShare: 0.5, keyWaitersShare: 0.5 });
  const order: string[] = [];
  const enter = (name: string, key?: string) =>
    void places.enter(key).entered.then(() => order.push(name));
  enter("hot 1", "hot");
  enter("hot 2", "hot");
  enter("plain 1");
  enter("hot 3", "hot");
  enter("plain 2");
  await Promise.resolve();
  expect(order).toEqual(["hot 1", "plain 1"]);
  places.exit("hot");
  await Promise.resolve();
  expect(order.at(-1)).toBe("hot 2");
  places.exit();
  await Promise.resolve();
  expect(order.at(-1)).toBe("plain 2");
  places.exit("hot");
  await Promise.resolve();
  expect(order.at(-1)).toBe("hot 3");
});
