/**
 * What servers that shops run on make of a path, beside what we make of it: whatever one of them would take for a protected
 * path is never passed as an open one, and what a bypass rule lets through is its path to all of them.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { readUrl } from "../src/routing/address.ts";
import { type Route, compileRoutes } from "../src/routing/route-table.ts";
import { EVENT, NOW } from "./event.ts";

const FREE = "/events/demo/free";
const EVENTS = [{ ...EVENT, bypass: [{ paths: [FREE] }] }];
/** The same path, for whoever comes from one network. */
const CONDITIONAL = [
  {
    ...EVENT,
    bypass: [],
    conditionalBypass: [{ rule: 0, paths: [FREE], networks: ["192.0.2.0/24"] }],
  },
];
const tableOf = (events: typeof EVENTS) =>
  compileRoutes({ iss: "m", iat: 0, exp: 1, seq: 1, events }, "origin");
const table = tableOf(EVENTS);
const conditional = tableOf(CONDITIONAL);

interface Routed {
  readonly kind: Route["kind"];
  /** Rules that would pass it for whoever holds their condition. */
  readonly rules: number;
  readonly forwarded: string;
}

function route(target: string, routes = table): Routed | undefined {
  const address = readUrl(`https://shop.example${target}`);
  if (address === undefined) return undefined;
  const request = { host: "shop.example", path: address.path, method: "GET", now: NOW };
  const found = routes.match(request);
  const rules = found.kind === "protected" ? (found.conditional?.length ?? 0) : 0;
  return { kind: found.kind, rules, forwarded: address.pathname };
}

/** Each byte a character, as it stands in memory. */
const decode = (path: string): string =>
  path.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
const merge = (path: string): string => path.replace(/\/{2,}/g, "/");
const resolve = (path: string): string => {
  const out: string[] = [];
  for (const segment of path.split("/").slice(1)) {
    if (segment === "..") out.pop();
    else if (segment !== ".") out.push(segment);
  }
  return `/${out.join("/")}`;
};
/** A lax UTF-8 decoder, which takes two bytes for a character of one. */
const shorten = (path: string): string =>
  path.replace(/[\u00c0\u00c1](.)/g, (form, tail: string) =>
    String.fromCharCode(((form.charCodeAt(0) & 1) << 6) | (tail.charCodeAt(0) & 0x3f)),
  );
const base = (path: string): string => {
  try {
    return new URL(path, "http://base.example").pathname;
  } catch {
    return path;
  }
};

/** The path by which each looks for what it serves. */
const SERVERS: Readonly<Record<string, (path: string) => string>> = {
  nginx: (path) => resolve(merge(decode(path))),
  "nginx before another nginx": (path) => resolve(merge(decode(decode(path)))),
  Apache: (path) => merge(resolve(decode(path))),
  "Express, by the path as it came": (path) => path,
  "Express, any case": (path) => path.toLowerCase(),
  "a Node server, by URL": (path) => base(path),
  "a Node server, by URL, decoded": (path) => decode(base(path)),
  "Tomcat and Spring": (path) => merge(resolve(decode(path.replace(/;[^/]*/g, "")))),
  "Jetty, parameters after decoding": (path) => resolve(decode(path).replace(/;[^/]*/g, "")),
  IIS: (path) => merge(resolve(decode(path).replaceAll("\\", "/"))).toLowerCase(),
  "IIS, %u and files of Windows": (path) =>
    merge(
      resolve(
        decode(path.replace(/%u00([0-9A-Fa-f]{2})/gi, "%$1"))
          .replaceAll("\\", "/")
          .replace(/(?<=[^./ ][^/]*)[. ]+(?=\/|$)/g, ""),
      ),
    ).toLowerCase(),
  "Go's ServeMux": (path) => resolve(merge(decode(path))),
  "WSGI and PHP": (path) => decode(path),
  "a lax decoder": (path) => merge(resolve(shorten(decode(path)))),
  "a slash at the end for none": (path) => decode(path).replace(/\/$/, ""),
};

const isWithin = (path: string, prefix: string): boolean =>
  path.toLowerCase().startsWith(prefix.toLowerCase());

const hex = (char: string): string => char.charCodeAt(0).toString(16).padStart(2, "0");
const piece = fc.oneof(
  fc.constantFrom(
    "events",
    "demo",
    "free",
    "x",
    "..",
    ".",
    "",
    "...",
    "index.php",
    "é",
    ";a=b",
    " ",
  ),
  fc.constantFrom("EVENTS", "Demo", "events;a", "demo.", "events ", "..;", "%2e%2e", "a:b@c"),
);
const separator = fc.constantFrom("/", "/", "/", "//", "\\", "%2f", "%5C", "%252F", "/./", ";/");
const disguised = fc
  .tuple(
    fc.array(fc.tuple(separator, piece), { minLength: 1, maxLength: 7 }),
    fc.infiniteStream(fc.nat(24)),
  )
  .map(([pieces, dice]) =>
    Array.from(pieces.flat().join(""), (char, at) => {
      const roll = dice.next().value ?? 0;
      if (at === 0) return "/";
      if (roll === 0) return `%${hex(char)}`;
      if (roll === 1) return `%25${hex(char)}`;
      if (roll === 2) return `%u00${hex(char)}`;
      if (roll === 3)
        return `%c${char.charCodeAt(0) >> 6}%${(0x80 | (char.charCodeAt(0) & 0x3f)).toString(16)}`;
      return roll === 4 ? char.toUpperCase() : char;
    }).join(""),
  );

const RUNS = 3_000;

test("law 10: what any of them would take for a protected path is not passed as an open one", () => {
  fc.assert(
    fc.property(disguised, (target) => {
      const found = route(target);
      if (found?.kind !== "open") return;
      for (const [server, read] of Object.entries(SERVERS)) {
        const seen = read(found.forwarded);
        const isProtected = isWithin(seen, "/events/demo") && seen !== FREE;
        expect(isProtected, `${server} takes ${target} for ${seen}`).toBe(false);
      }
    }),
    { numRuns: RUNS },
  );
});

const near = fc
  .tuple(
    fc.constantFrom("/events/demo/free", "/events/demo"),
    fc.array(fc.tuple(separator, piece), { maxLength: 3 }),
  )
  .map(([start, rest]) => start + rest.flat().join(""));

test("law 10: a rule with a condition opens nothing by itself, and asks for it at its path alone, to all of them", () => {
  let asked = 0;
  fc.assert(
    fc.property(fc.oneof(near, disguised, fc.constant(FREE)), (target) => {
      const found = route(target, conditional);
      const closed = route(target, tableOf([{ ...EVENT, bypass: [] }]));
      expect(found?.kind, `${target}: as if the rule were not there`).toBe(closed?.kind);
      if (found === undefined || found.rules === 0) return;
      asked += 1;
      for (const [server, read] of Object.entries(SERVERS)) {
        expect(read(found.forwarded).toLowerCase(), `${server} and ${target}`).toBe(FREE);
      }
    }),
    { numRuns: RUNS },
  );
  expect(asked).toBeGreaterThan(0);
});

test("law 10: what is passed by a bypass rule is the path of the rule to all of them", () => {
  let passed = 0;
  fc.assert(
    fc.property(fc.oneof(near, disguised, fc.constant(FREE)), (target) => {
      const found = route(target);
      if (found?.kind !== "open" || !isWithin(found.forwarded, "/events/demo")) return;
      passed += 1;
      for (const [server, read] of Object.entries(SERVERS)) {
        expect(read(found.forwarded).toLowerCase(), `${server} and ${target}`).toBe(FREE);
      }
    }),
    { numRuns: RUNS },
  );
  expect(passed).toBeGreaterThan(0);
});

test("each of them is fooled by something that is refused here", () => {
  const tricks = [
    "//h/events/demo",
    "/events%2fdemo",
    "/events;a/demo",
    "/Events/demo",
    "/events\\demo",
    "/events%c0%afdemo",
  ];
  for (const target of [
    ...tricks,
    "/events./demo",
    "/x/..%2fevents/demo",
    "/%65vents/demo",
    "/events/demo/",
  ]) {
    const found = route(target);
    const fooled = Object.values(SERVERS).some((read) => isWithin(read(target), "/events/demo"));
    expect([target, found?.kind === "open", fooled]).toEqual([target, false, true]);
  }
});
