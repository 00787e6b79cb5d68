import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { readFacts } from "../src/store-facts.ts";
import { troubleOf } from "../src/store-trouble.ts";
import { parseStoreUrl } from "../src/store-url.ts";

describe("an address of the store", () => {
  test.each([
    ["redis://store", { kind: "server", node: { host: "store", port: 6379 } }, "store:6379"],
    [
      "valkey://store:7000/2",
      { kind: "server", node: { host: "store", port: 7000 } },
      "store:7000",
    ],
    ["redis://[::1]:7000", { kind: "server", node: { host: "::1", port: 7000 } }, "[::1]:7000"],
    ["unix:///run/valkey.sock", { kind: "socket", path: "/run/valkey.sock" }, "/run/valkey.sock"],
    ["/run/valkey.sock", { kind: "socket", path: "/run/valkey.sock" }, "/run/valkey.sock"],
  ])("%s", (text, place, label) => {
    expect(parseStoreUrl(text)).toMatchObject({ place, label, tls: false });
  });

  test("rediss and valkeys are TLS", () => {
    expect(parseStoreUrl("rediss://store").tls).toBe(true);
    expect(parseStoreUrl("valkeys://store").tls).toBe(true);
  });

  test("several are the nodes of one cluster, with one user and password", () => {
    const address = parseStoreUrl("rediss://u:p@a:1, rediss://u:p@b:2,rediss://u:p@c");
    expect(address).toMatchObject({
      place: {
        kind: "cluster",
        nodes: [
          { host: "a", port: 1 },
          { host: "b", port: 2 },
          { host: "c", port: 6379 },
        ],
      },
      tls: true,
      username: "u",
      password: "p",
      label: "a:1,b:2,c:6379",
    });
  });

  test("any user and password come through when they are percent-encoded, and never show in the label", () => {
    const text = fc.string({ minLength: 6, maxLength: 40, unit: "grapheme" });
    const property = fc.property(text, text, (username, password) => {
      const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
      for (const url of [`redis://${login}@store:1/0`, `unix://${login}@/run/x?db=0`]) {
        expect(parseStoreUrl(url)).toMatchObject({ username, password, database: 0 });
      }
      expect(parseStoreUrl(`redis://${login}@store:1`).label).toBe("store:1");
    });
    fc.assert(property);
  });

  test.each([
    ["", "not an address"],
    ["store:6379", "scheme"],
    ["http://:hunter2@store", "scheme"],
    ["redis://", "host"],
    ["redis://:hunter2@store:99999", "not an address"],
    ["redis://:hunter2@store:0", "port"],
    ["redis://:hunter2@store/x", "database"],
    ["redis://:hunter2@store/-1", "database"],
    ["redis://:hunter2@store?family=6", "options"],
    ["redis://:hunter2#x@store", "#"],
    ["redis://:hunter2/x@store", "not an address"],
    ["redis://:hunter2%zz@store", "%25"],
    ["redis://:hunter2,x@store", "not an address"],
    ["unix://:hunter2@store/run/x", "socket"],
    ["unix:///run/x?password=hunter2", "socket"],
    ["unix:///run/x?db=hunter2", "database"],
    ["redis://:hunter2@a,redis://:other@b", "share"],
    ["redis://:hunter2@a,rediss://:hunter2@b", "share"],
    ["redis://:hunter2@a/1,redis://:hunter2@b/1", "database 0"],
    ["redis://:hunter2@a,unix://:hunter2@/run/x", "hosts"],
  ])("%s is refused, and the password is not repeated", (text, why) => {
    let message = "";
    try {
      parseStoreUrl(text);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      message = String(error);
    }
    expect(message).toContain(why);
    expect(message).not.toContain("hunter2");
  });
});

test("more than 100 addresses are refused", () => {
  expect(() => parseStoreUrl("redis://a,".repeat(100).concat("redis://a"))).toThrow(/at most 100/);
});

describe("what a server says of itself", () => {
  test("is read from INFO of Redis and of Valkey", () => {
    const info =
      "# Memory\r\nmaxmemory_policy:allkeys-lru\r\n# Replication\r\nrole:slave\r\nloading:1\r\n";
    expect(readFacts(info)).toEqual({
      isReplica: true,
      isLoading: true,
      isClusterNode: false,
      evictionPolicy: "allkeys-lru",
    });
  });

  test("is nothing when it is not INFO, and never a word that is not a policy", () => {
    for (const other of ["", "hello", 7, null, undefined, []])
      expect(readFacts(other)).toBeUndefined();
    expect(readFacts("role:master\nmaxmemory_policy:<script>")?.evictionPolicy).toBeUndefined();
    expect(readFacts("role:master")).toMatchObject({ isReplica: false, isClusterNode: false });
  });
});

test("of an error only a code is told", () => {
  const replied = (text: string) => Object.assign(new Error(text), { name: "ReplyError" });
  expect(troubleOf(replied("READONLY You can't"))).toEqual({ answered: true, code: "READONLY" });
  expect(troubleOf(replied("hunter2"))).toEqual({ answered: true, code: "ERR" });
  expect(troubleOf(Object.assign(new Error("hunter2"), { code: "ECONNRESET" }))).toEqual({
    answered: false,
    code: "ECONNRESET",
  });
  expect(troubleOf(Object.assign(new Error("x"), { code: "hunter2" })).code).toBe("closed");
  expect(troubleOf("hunter2").code).toBe("unknown");
});
