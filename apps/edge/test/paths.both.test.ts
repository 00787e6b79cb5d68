import fc from "fast-check";
import { expect, test } from "vitest";
import { readPath } from "../src/routing/path.ts";
import { type Route, compileRoutes } from "../src/routing/route-table.ts";
import { EVENT } from "./event.ts";

const table = compileRoutes({ iss: "m", iat: 0, exp: 1, seq: 1, events: [EVENT] });

/** As the edge does: the raw path and what the URL parser makes of it. */
function route(raw: string, host = "shop.example", method = "GET"): Route["kind"] {
  const { pathname } = new URL(`https://shop.example${raw}`);
  return table.match({ host, path: readPath(raw, pathname), method }).kind;
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
  "//events//demo",
  "/events/demo/seat%20map",
  "/events/demo/../demo",
])("%s is protected", (path) => {
  expect(route(path)).toBe("protected");
});

test.each(["/", "/events", "/Events/demo", "/EVENTS/DEMO", "/events/dem", "/a%2Fb", "/caf%C3%A9"])(
  "%s is in no event: letters count by their case",
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
  "/events/demo/..%2f..%2fpublic",
  "/events/demo/%00",
  "/events/demo/%zz",
  "/%c0%afevents/demo%0d",
  "/events/demo\\..\\..\\public",
])("%s can be read in two ways and is refused", (path) => {
  const kind = route(path);
  expect(["ambiguous", "open"]).toContain(kind);
  if (!path.startsWith("/%c0")) expect(kind).toBe("ambiguous");
});

test("law 10: a protected path on a host that no event names is not open", () => {
  expect(route("/events/demo", "evil.example")).toBe("unknown-host");
  expect(route("/about", "evil.example")).toBe("open");
});

test("a bypass rule opens exactly its path and methods", () => {
  expect(route("/events/demo/logo.svg")).toBe("open");
  expect(route("/events/demo/logo.svg", "shop.example", "POST")).toBe("protected");
  expect(route("/events/demo/logo.svgx")).toBe("protected");
  expect(route("/events/demo/%2e/logo.svg")).not.toBe("ambiguous");
});

test("law 10: no spelling that some server would decode to a protected path is open", () => {
  const PATH = "/events/demo";
  const way = fc.constantFrom("plain", "once", "twice");
  const disguise = fc.array(way, { minLength: PATH.length, maxLength: PATH.length }).map((ways) =>
    PATH.split("")
      .map((char, i) => {
        const hex = char.charCodeAt(0).toString(16);
        if (i === 0 || ways[i] === "plain") return char;
        return ways[i] === "once" ? `%${hex}` : `%25${hex}`;
      })
      .join(""),
  );
  fc.assert(
    fc.property(disguise, (path) => {
      expect(route(path)).not.toBe("open");
    }),
  );
});
