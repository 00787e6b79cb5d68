import fc from "fast-check";
import { expect, test } from "vitest";
import { eventChangeSchema, eventSettingsSchema, holdSchema } from "../src/event-settings.ts";
import { parse } from "../src/parse.ts";

const GOOD = {
  event: "spring-sale",
  title: "Spring sale",
  ratePerMinute: 120,
  endsAt: 1_900_000_000_000,
  hosts: ["shop.example"],
  paths: ["/events/spring*"],
  homePath: "/events/spring",
};

/** Fields that a refused input names, each once. */
function refusedFields(input: unknown): readonly string[] {
  const read = parse(eventSettingsSchema, input);
  return read.ok ? [] : [...new Set(read.refusal.map(({ field }) => field))];
}

test("what an organizer leaves out has its documented default", () => {
  const read = parse(eventSettingsSchema, GOOD);
  expect(read).toMatchObject({
    ok: true,
    value: {
      lifetimeSeconds: 600,
      claimWindowSeconds: 180,
      horizonSeconds: 60,
      overdrivePercent: 150,
      maxAdmissions: null,
      ratePlan: [],
      approximationBudget: 0,
      lastCallSeconds: 600,
      presence: "auto",
      holdingStatus: 200,
      bypass: [],
      notice: "",
      priceRange: "",
      tellLeft: true,
    },
  });
});

test("what has a form of its own is refused in words, not by a pattern", () => {
  const wrong = {
    ...{ event: "Spring", hosts: ["https://shop.example/"], paths: ["spring"] },
    ...{ homePath: "spring", accent: "green" },
  };
  const read = parse(eventSettingsSchema, { ...GOOD, ...wrong });
  const told = read.ok ? [] : read.refusal.map(({ message }) => message);
  expect(told).toHaveLength(5);
  for (const message of told) expect(message).toMatch(/^Must be /);
});

test("the page's language is one that there are texts for; none: as the page has it", () => {
  expect(parse(eventSettingsSchema, GOOD)).not.toHaveProperty("value.language");
  for (const language of ["ar", "en", "zh"]) {
    expect(parse(eventSettingsSchema, { ...GOOD, language })).toMatchObject({
      value: { language },
    });
    expect(parse(eventChangeSchema, { language })).toMatchObject({ value: { language } });
  }
  for (const language of ["sv", "de-CH", "EN", "", 1, null]) {
    expect(parse(eventSettingsSchema, { ...GOOD, language })).toMatchObject({ ok: false });
  }
});

test("friction has its own bounds, each part named", () => {
  const refused = (friction: unknown) => refusedFields({ ...GOOD, friction });
  expect(refused({ limit: false, proofOfWorkBits: 24 })).toEqual([]);
  expect(refused({ limit: "no", proofOfWorkBits: 25 })).toEqual([
    "friction.limit",
    "friction.proofOfWorkBits",
  ]);
  expect(refused({ proofOfWorkBits: -1 })).toEqual(["friction.proofOfWorkBits"]);
});

const NUMBERS = [
  "ratePerMinute",
  "lifetimeSeconds",
  "claimWindowSeconds",
  "horizonSeconds",
  "overdrivePercent",
  "maxAdmissions",
  "approximationBudget",
  "lastCallSeconds",
  "endsAt",
] as const;
const MAY_BE_ZERO: ReadonlySet<string> = new Set([
  "approximationBudget",
  "lastCallSeconds",
  "endsAt",
]);
const NOT_NUMBERS = [-1, 1.5, NaN, Infinity, "", " 5", "5", "5e2", 1e-9, 2 ** 53, [], {}, true];

test.each(NUMBERS)(
  "%s: only a whole number in bounds, else the field is named (AO-01)",
  (field) => {
    for (const value of NOT_NUMBERS)
      expect(refusedFields({ ...GOOD, [field]: value })).toEqual([field]);
  },
);

test.each(NUMBERS.filter((field) => !MAY_BE_ZERO.has(field)))(
  "%s: zero is refused, not read as off",
  (field) => {
    expect(refusedFields({ ...GOOD, [field]: 0 })).toEqual([field]);
  },
);

test("every mistake is named at once, and none echoes its value", () => {
  const read = parse(eventSettingsSchema, {
    ...GOOD,
    event: "Not A Slug",
    ratePerMinute: 0,
    surprise: 1,
  });
  expect(read.ok).toBe(false);
  if (read.ok) return;
  expect(read.refusal.map(({ field }) => field).toSorted()).toEqual([
    "event",
    "ratePerMinute",
    "surprise",
  ]);
  expect(JSON.stringify(read.refusal)).not.toContain("Not A Slug");
});

test.each([
  "//evil.example",
  "/\\evil.example",
  "https://evil.example",
  "",
  "events",
  "/a b",
  "/a?x=1",
])("%j is no path of our own to return to", (homePath) => {
  expect(refusedFields({ ...GOOD, homePath })).toEqual(["homePath"]);
});

test.each(["events", "/a*b", "/**", "/a?b", "/%2e", "/a\\b"])(
  "%j is no path pattern",
  (pattern) => {
    expect(refusedFields({ ...GOOD, paths: [pattern] })).toEqual(["paths.0"]);
  },
);

test("an event is named by a slug", () => {
  for (const event of ["", "-a", "a-", "a--b", "A", "a_b", "a/b", "ä", "a".repeat(65), "a\n"]) {
    expect(refusedFields({ ...GOOD, event })).toEqual(["event"]);
  }
});

test("a change cannot touch what fans were promised", () => {
  for (const field of ["lifetimeSeconds", "claimWindowSeconds", "event", "hosts"]) {
    const read = parse(eventChangeSchema, { [field]: 60 });
    expect(read).toMatchObject({ ok: false, refusal: [{ field }] });
  }
});

test("a plan of rates: every entry that is out of range or of order is named at once, whatever the others are", () => {
  const entry = { at: 5, ratePerMinute: 100 };
  for (const [ratePlan, fields] of [
    [[], []],
    [
      [
        { ...entry, ramp: true },
        { at: 6, ratePerMinute: 1_000_000 },
      ],
      [],
    ],
    [
      [entry, entry, { at: 4, ratePerMinute: 0 }],
      ["1.at", "2.at", "2.ratePerMinute"],
    ],
    [[{ ...entry, ramp: true }], ["0.ramp"]],
    [[entry, { ...entry, at: 6, ramp: "yes" }], ["1.ramp"]],
    [
      [null, { at: "5", ratePerMinute: 0 }, { ...entry, x: 1 }, entry],
      ["0", "1.at", "1.ratePerMinute", "2.x", "3.at"],
    ],
    [Array.from({ length: 101 }, (_, at) => ({ ...entry, at })), [""]],
    ["5", [""]],
    [{}, [""]],
  ] as const) {
    const named = fields.map((field) => (field === "" ? "ratePlan" : `ratePlan.${field}`));
    expect([...refusedFields({ ...GOOD, ratePlan })].toSorted()).toEqual(named);
    const read = parse(eventChangeSchema, { ratePlan });
    expect(read.ok).toBe(named.length === 0);
  }
});

test("an empty change fills nothing in", () => {
  expect(parse(eventChangeSchema, {})).toEqual({ ok: true, value: {} });
});

test("a hold fills in nothing, and knows its scopes", () => {
  expect(parse(holdSchema, {})).toEqual({ ok: true, value: {} });
  expect(parse(holdSchema, { scope: "everything" }).ok).toBe(false);
});

// With U+202E, right-to-left override, "10–20" is read as "02–01".
test.each([
  "\u0000",
  "a\nb",
  "\ud83d",
  "cut \ud83d",
  "\u007f",
  "\u0085",
  "a\u2028b",
  "\u202e10–20",
  "\u2069",
])("%j is no line of text: not as title, notice, prices or reason", (text) => {
  expect(refusedFields({ ...GOOD, title: text })).toEqual(["title"]);
  expect(refusedFields({ ...GOOD, notice: text })).toEqual(["notice"]);
  expect(refusedFields({ ...GOOD, priceRange: text })).toEqual(["priceRange"]);
  expect(parse(holdSchema, { reason: text }).ok).toBe(false);
});

test("text of any language, markup and emoji are text", () => {
  expect(refusedFields({ ...GOOD, title: "</script> \u200f{{ Été 🎟️" })).toEqual([]);
});

test.each(["/a//b", "/a/../b", "/a/./b", "/a/..", "/.", "//x*", "/a;b", "/%c3%a9", "/%2F", "/%41"])(
  "%j is not in normal form: it would match nothing",
  (pattern) => {
    expect(refusedFields({ ...GOOD, paths: [pattern] })).toEqual(["paths.0"]);
  },
);

test.each(["/", "/*", "/a", "/a/", "/a/*", "/a.b/..c*", "/%C3%A9v%C3%A9nement*", "/a/...b"])(
  "%j is a path pattern",
  (pattern) => {
    expect(refusedFields({ ...GOOD, paths: [pattern] })).toEqual([]);
  },
);

test.each([
  "shop.example:443",
  "shop.example:80",
  "shop.example:0",
  "..",
  "a..b",
  "127.1",
  "1.2.3.4.5",
  "-a.example",
  "Shop.example",
  "shop.example.",
  "shop.example/",
  "",
])("%j is no host that a browser would send", (host) => {
  expect(refusedFields({ ...GOOD, hosts: [host] })).toEqual(["hosts.0"]);
});

test.each([
  "shop.example",
  "localhost:8787",
  "127.0.0.1:8787",
  "[::1]:8787",
  "a-b.example",
  "4u.example",
])("%j is a host", (host) => {
  expect(refusedFields({ ...GOOD, hosts: [host] })).toEqual([]);
});

test("any JSON at all is refused or read, never thrown at", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (input) => {
      expect(typeof parse(eventSettingsSchema, input).ok).toBe("boolean");
    }),
  );
});
