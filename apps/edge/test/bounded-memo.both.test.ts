import fc from "fast-check";
import { expect, test } from "vitest";
import { createBoundedMemo } from "../src/admission/bounded-memo.ts";
import { createShownReader } from "../src/admission/shown.ts";
import { readHead } from "../src/head.ts";

test("whatever is put: within both bounds, the oldest gone first, the newest there", () => {
  const put = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 60 }));
  fc.assert(
    fc.property(fc.array(put), (puts) => {
      const memo = createBoundedMemo<number>({ entriesMax: 4, charsMax: 100 });
      const order: [string, number][] = [];
      for (const [index, [name, chars]] of puts.entries()) {
        const key = `k${name}`;
        memo.put(key, index, chars);
        const at = order.findIndex(([other]) => other === key);
        if (at !== -1) order.splice(at, 1);
        order.push([key, chars]);
        while (order.length > 4 || order.reduce((sum, [, of]) => sum + of, 0) > 100) order.shift();
        expect(memo.get(key)).toBe(index);
      }
      const kept = new Set(order.map(([key]) => key));
      for (let name = 0; name < 10; name += 1) {
        expect(memo.get(`k${name}`) !== undefined).toBe(kept.has(`k${name}`));
      }
    }),
  );
});

test("cookies that are known are known for their event and scheme only, and never beside headers", () => {
  const reader = createShownReader();
  const visitor = "A".repeat(43);
  const cookie = `a=1; __Host-vst-visitor-demo=${visitor}; __Host-vst-admission-demo=x.y.z; b=2`;
  const head = readHead(new Headers({ Cookie: cookie }));
  const scope = { event: "demo", https: true };
  const shown = reader.read(head, scope);
  expect(shown).toEqual({
    credentials: {
      ...{ visitor, admission: "x.y.z", ticket: undefined },
      ...{ tokenMode: false, byCookie: true },
    },
    cookieLeft: "a=1; b=2",
  });
  reader.keep(head, scope, shown);
  expect(reader.read(head, scope)).toBe(shown);
  for (const other of [
    { ...scope, event: "demo2" },
    { ...scope, https: false },
  ]) {
    expect(reader.read(head, other).credentials.admission).toBeUndefined();
  }
  const both = readHead(new Headers({ Cookie: cookie, "Vestibule-Mode": "token" }));
  expect(reader.read(both, scope).credentials).toMatchObject({ tokenMode: true, byCookie: false });
});
