import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalAddress, clientAddress } from "../src/client-address.ts";

test.each([
  ["203.0.113.7", "203.0.113.7"],
  [" 203.0.113.7 ", "203.0.113.7"],
  ["203.0.113.7:4711", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::FFFF:CB00:7107", "203.0.113.7"],
  ["0:0:0:0:0:ffff:203.0.113.7", "203.0.113.7"],
  ["[::ffff:203.0.113.7]:443", "203.0.113.7"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:0DB8:0000:0000:FFFF::", "2001:db8:0:0::/64"],
  ["[2001:db8::1]", "2001:db8:0:0::/64"],
  ["[2001:db8::1]:443", "2001:db8:0:0::/64"],
  ["2001:db8:0:1:aaaa:bbbb:cccc:dddd", "2001:db8:0:1::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["[fe80::1%25eth0]:80", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
])("%s is counted as %s", (text, address) => {
  expect(canonicalAddress(text)).toBe(address);
});

test.each([
  "",
  " ",
  "unknown",
  "_hidden",
  "localhost",
  "203.0.113",
  "203.0.113.256",
  "0203.0.113.7",
  "203.0.113.7:",
  "203.0.113.7:123456",
  "203.0.113.7 203.0.113.8",
  "[203.0.113.7]:80",
  "[203.0.113.7]",
  "[2001:db8::1",
  "2001:db8::1]",
  "[[::1]]",
  "2001:db8::1::2",
  "2001:db8:1:2:3:4:5:6:7",
  "12345::1",
  '"203.0.113.7"',
  "for=203.0.113.7",
  "203.0.113.7\0",
])("%j is no address", (text) => {
  expect(canonicalAddress(text)).toBeUndefined();
});

const v4 = fc.ipV4();
const group = fc.integer({ min: 0, max: 0xffff });
const groups = fc.array(group, { minLength: 8, maxLength: 8 });
const written = (numbers: readonly number[]) => numbers.map((each) => each.toString(16)).join(":");

test("every IPv4 address is itself, and the same one mapped to IPv6", () => {
  fc.assert(
    fc.property(v4, fc.integer({ min: 0, max: 65_535 }), (address, port) => {
      for (const text of [address, `${address}:${port}`, `::ffff:${address}`]) {
        expect(canonicalAddress(text)).toBe(address);
      }
    }),
  );
});

test("all addresses of an IPv6 /64 are one, others are others, and every spelling is the same", () => {
  fc.assert(
    fc.property(groups, groups, (one, other) => {
      fc.pre(one.slice(0, 4).join() !== other.slice(0, 4).join());
      fc.pre(!one.slice(0, 5).every((each) => each === 0));
      const neighbour = [...one.slice(0, 4), ...other.slice(4)];
      fc.pre(!neighbour.slice(0, 5).every((each) => each === 0));
      const address = canonicalAddress(written(one));
      expect(address).toBe(`${written(one.slice(0, 4))}::/64`);
      expect(canonicalAddress(written(neighbour))).toBe(address);
      expect(canonicalAddress(written(other))).not.toBe(address);
      expect(canonicalAddress(`[${written(one).toUpperCase()}]:1`)).toBe(address);
      expect(canonicalAddress(new URL(`http://[${written(one)}]`).hostname)).toBe(address);
    }),
  );
});

test("whatever a client writes, an address comes out or nothing", () => {
  const allowed = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){3}::\/64)$/;
  const junk = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[0-9a-f:.[\]%]{0,45}$/),
    fc.ipV6(),
    fc.ipV6().map((text) => `[${text}]:80`),
  );
  fc.assert(
    fc.property(junk, (text) => {
      const address = canonicalAddress(text);
      if (address !== undefined) expect(address).toMatch(allowed);
    }),
  );
});

const socket = "198.51.100.1";

test("without proxies nothing that a client sends is believed", () => {
  fc.assert(
    fc.property(fc.string(), (forwardedFor) => {
      expect(clientAddress({ socket, forwardedFor, hops: 0 })).toBe(socket);
    }),
  );
});

test("with n proxies the n-th entry from the right counts, whatever a client put before it", () => {
  const chain = fc.array(v4, { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 10 }), chain, (invented, proxies) => {
      const forwardedFor = [...invented, ...proxies].join(", ");
      const hops = proxies.length;
      expect(clientAddress({ socket, forwardedFor, hops })).toBe(proxies[0]);
    }),
  );
});

test.each([
  ["no header", undefined],
  ["an empty header", ""],
  ["too few entries", "203.0.113.7"],
  ["junk where the address should be", "203.0.113.7, unknown, 203.0.113.9"],
  ["an empty entry there", "203.0.113.7, , 203.0.113.9"],
])("two proxies and %s: the peer of the connection", (_name, forwardedFor) => {
  expect(clientAddress({ socket, forwardedFor, hops: 2 })).toBe(socket);
});

test("a peer that is gone is one unknown, never an error", () => {
  expect(clientAddress({ socket: undefined, forwardedFor: undefined, hops: 0 })).toBe("unknown");
  expect(clientAddress({ socket: "", forwardedFor: "x", hops: 1 })).toBe("unknown");
  expect(clientAddress({ socket: "::ffff:192.0.2.1", forwardedFor: undefined, hops: 0 })).toBe(
    "192.0.2.1",
  );
});
