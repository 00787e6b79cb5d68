import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { PATH_CHARS_MAX } from "../src/limits.ts";
import { readPath } from "../src/routing/path.ts";
import { type Route, compileRoutes } from "../src/routing/route-table.ts";
import { epochMs } from "@vestibule/kernel/units";
import { EVENT, NOW } from "./event.ts";

const table = compileRoutes({ iss: "m", iat: 0, exp: 1, seq: 1, events: [EVENT] }, "origin");

/** As the edge does: the raw path and what the URL parser makes of it. */
function route(raw: string, host = "shop.example", method = "GET"): Route["kind"] {
  const { pathname } = new URL(`https://shop.example${raw}`);
  return table.match({ host, path: readPath(raw, pathname), method, now: NOW }).kind;
}

test.each([
  "/events/demo",
  "/events/demo/",
  "/events/demo/checkout",
  "/events/demography",
  "/events/%64emo",
  "/events/./demo",
  "/x/../events/demo",
  "/x/%2e%2E/events/demo",
  "/events//demo",
  "/events/demo/seat%20map",
  "/events/demo/../demo",
  "/Events/demo",
  "/EVENTS/DEMO/checkout",
  "/events/%44EMO",
])("%s is protected", (path) => {
  expect(route(path)).toBe("protected");
});

test.each(["/", "/events", "/Events", "/events/dem", "/a%2Fb", "/caf%C3%A9", "/about.", "/a//b"])(
  "%s is in no event",
  (path) => {
    expect(route(path)).toBe("open");
  },
);

test.each([
  "/events%2Fdemo",
  "/events%2fdemo/checkout",
  "/x/..%2fevents/demo",
  "/events\\demo",
  "/x\\..\\events\\demo",
  "/events/%2564emo",
  "/events%252Fdemo",
  "/events;a=b/demo",
  "//events/demo",
  "/events./demo",
  "/events;%5Cx%2fdemo",
  "/events%20//../demo",
  "/x//../events//../../events%2Fdemo",
  "/events%20/demo",
  "/Events%2FDemo",
  "//shop.example/events/demo",
  "/\\shop.example/events/demo",
  "///events/demo",
  "/events/demo/..%2f..%2fpublic",
  "/events/demo/%00",
  "/events/demo/%zz",
  "/%c0%afevents/demo%0d",
  "/events/demo\\..\\..\\public",
  "/events/%C1%A4emo",
  "/events%c0%afdemo",
  "/events%C0%2Fdemo",
  "/events%E0%80%AFdemo",
  "/events%F0%80%80%AFdemo",
  "/%25c1%25a5vents/demo",
  "/events/%u0064emo",
  "/events%u002fdemo",
])("%s can be read in two ways and is refused", (path) => {
  const kind = route(path);
  expect(["ambiguous", "open"]).toContain(kind);
  if (!path.startsWith("/%c0")) expect(kind).toBe("ambiguous");
});

test("law 10: a protected path on a host that no event names is not open", () => {
  expect(route("/events/demo", "evil.example")).toBe("unknown-host");
  expect(route("/about", "evil.example")).toBe("open");
});

describe("law 10: one host's protected path under another host's name", () => {
  const OTHER = {
    ...EVENT,
    event: "other",
    hosts: ["other.example"],
    paths: ["/other*"],
    bypass: [],
  };
  const manifest = { iss: "m", iat: 0, exp: 1, seq: 1, events: [EVENT, OTHER] };
  const kinds = (originHost: "origin" | "visitor") => {
    const routes = compileRoutes(manifest, originHost);
    const at = (host: string, path: string) =>
      routes.match({ host, path: readPath(path), method: "GET", now: NOW }).kind;
    return ["other.example", "shop.example", "evil.example"].map((host) =>
      ["/events/demo", "/other", "/about", "/events/demo/logo.svg"].map((path) => at(host, path)),
    );
  };
  test("is open nowhere while the origin cannot tell them apart; a path that is open on its own host is on all", () => {
    expect(kinds("origin")).toEqual([
      ["unknown-host", "protected", "open", "open"],
      ["protected", "unknown-host", "open", "open"],
      ["unknown-host", "unknown-host", "open", "open"],
    ]);
  });
  test("is another path where the origin is asked under the visitor's host, and a host of no event is not served", () => {
    expect(kinds("visitor")).toEqual([
      ["open", "protected", "open", "open"],
      ["protected", "open", "open", "open"],
      ["unknown-host", "unknown-host", "unknown-host", "unknown-host"],
    ]);
  });
});

test("an exact path is protected with a slash behind it too, and one that is not ASCII however it is decoded", () => {
  const event = { ...EVENT, paths: ["/checkout", "/caf%C3%A9", "/%E2%82%AC/*"], bypass: [] };
  const routes = compileRoutes({ iss: "m", iat: 0, exp: 1, seq: 1, events: [event] }, "origin");
  const kind = (path: string) =>
    routes.match({ host: "shop.example", path: readPath(path), method: "GET", now: NOW }).kind;
  const inside = [
    "/checkout",
    "/checkout/",
    "/Checkout/",
    "/caf%C3%A9",
    "/caf%c3%a9/",
    "/%e2%82%ac/x",
  ];
  expect(inside.map(kind)).toEqual(inside.map(() => "protected"));
  const outside = ["/checkout/x", "/checkouts", "/caf%C3%A8", "/cafe", "/%E2%82%AC"];
  expect(outside.map(kind)).toEqual(outside.map(() => "open"));
});

test("law 10: a path too long to be read is not open, whatever it begins with", () => {
  for (const start of ["/%65vents/demo/", "/x/%2e%2e/events/demo/", "/events/demo/", "/about/"]) {
    expect(route(start.padEnd(PATH_CHARS_MAX, "a"))).not.toBe("unknown-host");
    expect(route(start.padEnd(PATH_CHARS_MAX + 1, "a"))).toBe("ambiguous");
  }
  expect(route("/about/".padEnd(PATH_CHARS_MAX, "a"))).toBe("open");
});

test("a bypass rule opens exactly its path and methods", () => {
  expect(route("/events/demo/logo.svg")).toBe("open");
  expect(route("/events/demo/logo.svg", "shop.example", "POST")).toBe("protected");
  for (const other of ["logo.svgx", "Logo.svg", "logo.svg/", "logo.svg.", "logo.svg;a"]) {
    expect(route(`/events/demo/${other}`)).toBe("protected");
  }
  expect(route("/events/demo/%2e/logo.svg")).not.toBe("ambiguous");
  // A server that takes `//` for what it is would not see the path of the rule.
  expect(route("/events/demo//logo.svg")).toBe("protected");
});

test("law 10: no spelling that some server would decode to a protected path is open", () => {
  const PATH = "/events/demo";
  const way = fc.constantFrom("plain", "once", "twice", "overlong", "longer", "unicode");
  const hex = (code: number) => code.toString(16).padStart(2, "0");
  const disguise = fc.array(way, { minLength: PATH.length, maxLength: PATH.length }).map((ways) =>
    PATH.split("")
      .map((char, i) => {
        const code = char.charCodeAt(0);
        if (i === 0 || ways[i] === "plain") return char;
        const [lead, tail] = [code >> 6, hex(0x80 | (code & 0x3f))];
        if (ways[i] === "overlong") return `%${hex(0xc0 | lead)}%${tail}`;
        if (ways[i] === "longer") return `%e0%${hex(0x80 | lead)}%${tail}`;
        if (ways[i] === "unicode") return `%u00${hex(code)}`;
        return ways[i] === "once" ? `%${hex(code)}` : `%25${hex(code)}`;
      })
      .join(""),
  );
  fc.assert(
    fc.property(disguise, (path) => {
      expect(route(path)).not.toBe("open");
    }),
  );
});

describe("law 2: several events on one path", () => {
  const at = (now: number, ...events: ManifestEvent[]) => {
    const routes = compileRoutes({ iss: "m", iat: 0, exp: 1, seq: 1, events }, "origin");
    const path = readPath("/events/demo/x");
    const request = { host: "shop.example", path, method: "GET", now: epochMs(now) };
    const found = routes.match(request);
    return found.kind === "protected" ? found.event.event : found.kind;
  };
  const over = { ...EVENT, event: "over", endsAt: NOW };
  const goesOn = { ...EVENT, event: "goes-on" };
  test("one that goes on wins over one that has ended, in whatever order and however long its pattern", () => {
    const longer = { ...over, paths: ["/events/demo/*"] };
    for (const ended of [over, longer]) {
      expect(at(NOW, ended, goesOn)).toBe("goes-on");
      expect(at(NOW, goesOn, ended)).toBe("goes-on");
    }
    expect(at(NOW - 1, longer, goesOn)).toBe("over");
  });
  test("of two that differ by case only, the one that is asked for to the letter wins", () => {
    const upper = { ...goesOn, event: "upper", paths: ["/Events/demo*"] };
    expect([at(NOW, upper, goesOn), at(NOW, goesOn, upper)]).toEqual(["goes-on", "goes-on"]);
  });
  test("of those that go on the longest pattern wins", () => {
    const longer = { ...EVENT, event: "longer", paths: ["/events/demo/*"] };
    expect([at(NOW, longer, goesOn), at(NOW, goesOn, longer)]).toEqual(["longer", "longer"]);
  });
  test("law 10: a path of ended events only is not open", () => {
    expect(at(NOW, over)).toBe("over");
  });
  test("a bypass rule of an ended event opens nothing of one that goes on", () => {
    const bypass = { ...over, bypass: [{ paths: ["/events/demo*"] }] };
    expect(at(NOW, bypass, goesOn)).toBe("goes-on");
  });
});
