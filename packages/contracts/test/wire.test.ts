import { expect, test } from "vitest";
import { joinRequestSchema, visitorSchema } from "../src/line-api.ts";
import { cookieName } from "../src/names.ts";
import { parse } from "../src/parse.ts";
import { PROBLEMS, problemDocument } from "../src/problems.ts";
import { purchaseRequestSchema } from "../src/purchase-api.ts";

test("extensions never replace the registered members of a problem document", () => {
  const document = problemDocument("sold-out", {
    extensions: { status: 200, type: "about:blank", title: "", seen: 1 },
  });
  expect(document).toMatchObject({ status: 409, type: "urn:vestibule:problem:sold-out", seen: 1 });
  expect(document.title).not.toBe("");
});

test("every registered problem is an error", () => {
  for (const { status } of Object.values(PROBLEMS)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
  }
});

test.each([0, -1, 1.5, "2", "1e3", 2 ** 31, 2 ** 53, null, [1], 101, undefined])(
  "%j is no quantity (IG-05)",
  (quantity) => {
    const read = parse(purchaseRequestSchema, { sku: "seat", quantity });
    expect(read.ok ? [] : new Set(read.refusal.map(({ field }) => field))).toEqual(
      new Set(["quantity"]),
    );
  },
);

test("unknown members of a purchase are refused", () => {
  expect(parse(purchaseRequestSchema, { sku: "seat", quantity: 1, price: 0 }).ok).toBe(false);
});

test("a visitor's secret has one text", () => {
  const good = `${"A".repeat(42)}E`;
  expect(parse(visitorSchema, good).ok).toBe(true);
  // The last character's two spare bits are 0: any other text of the same bytes is refused.
  for (const bad of [`${"A".repeat(42)}F`, `${good}=`, "A".repeat(42), `${good}\n`, ` ${good}`]) {
    expect(parse(visitorSchema, bad).ok).toBe(false);
  }
});

test("a join carries a visitor and nothing unknown", () => {
  const visitor = "A".repeat(43);
  expect(parse(joinRequestSchema, { visitor }).ok).toBe(true);
  expect(parse(joinRequestSchema, { visitor, number: 1 }).ok).toBe(false);
  expect(parse(joinRequestSchema, {}).ok).toBe(false);
});

test("cookies are locked to the host on https", () => {
  expect(cookieName("ticket", "demo", { https: true })).toBe("__Host-vst-ticket-demo");
  expect(cookieName("ticket", "demo", { https: false })).toBe("vst-ticket-demo");
});
