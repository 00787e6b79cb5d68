/** Addresses and networks against what Node itself makes of them. */
import { BlockList, isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isNarrow, networkHolds, parseAddress, parseNetwork } from "@vestibule/contracts/network";

const ipv4 = fc.ipV4();
const ipv6 = fc.ipV6();
const isMapped = (text: string) => parseAddress(text)?.words.length === 2;

describe("an address", () => {
  test("is what Node takes for one, without zone ids", () => {
    const part = fc.constantFrom(
      ...["0", "1", "01", "255", "256", "0x1", "", "a", "ffff", "10000", ":", "::", ".", "%eth0"],
      ...["FFFF", "::ffff", "127.0.0.1", " ", "/", "1e1", "+1", "\u0661", "\n"],
    );
    const near = fc
      .array(fc.tuple(part, fc.constantFrom(":", ".", "::", "")), { maxLength: 10 })
      .map((parts) => parts.flat().join(""));
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6, near, fc.string({ maxLength: 50 })), (text) => {
        const isOne = isIPv4(text) || (isIPv6(text) && !text.includes("%"));
        expect(parseAddress(text) !== undefined, `the text ${JSON.stringify(text)}`).toBe(isOne);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    ["192.0.2.1", "::ffff:192.0.2.1"],
    ["192.0.2.1", "::FFFF:c000:201"],
    ["192.0.2.1", "0:0:0:0:0:ffff:192.0.2.1"],
    ["2001:db8::1", "2001:0DB8:0:0:0:0:0:1"],
  ])("%s is also spelled %s", (one, other) => {
    expect(parseAddress(other)).toEqual(parseAddress(one));
  });

  test.each([
    ...["", " ", "192.0.2.1 ", "192.0.2.1, 10.0.0.1", "192.0.2.01", "192.0.2", "3221225985"],
    ...["0xc0.0.2.1", "192.0.2.1:80", "[::1]", "fe80::1%eth0", "fe80::1%25eth0", "1::2::3", ":::"],
    ...["1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "::192.0.2.256", "192.0.2.1::"],
    ...["12345::", "::g", "1.2.3.4:5", "::1.2.3.4:5", "1".repeat(46), "unknown", "null"],
  ])("is not %j", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});

describe("a network", () => {
  test("holds the addresses that Node's own list says it holds", () => {
    const address = fc.oneof(ipv4, ipv6).filter((text) => !isMapped(text) || isIPv4(text));
    let held = 0;
    fc.assert(
      fc.property(address, address, fc.nat(128), fc.boolean(), (one, other, length, isNear) => {
        const family = isIPv4(one) ? "ipv4" : "ipv6";
        const bits = Math.min(length, isIPv4(one) ? 32 : 128);
        const network = networkOf(one, bits);
        const asked = isNear ? one : other;
        const list = new BlockList();
        list.addSubnet(one, bits, family);
        const known = parseAddress(asked);
        if (known === undefined) throw new Error(asked);
        const isSameFamily = isIPv4(asked) === isIPv4(one);
        const expected = isSameFamily && list.check(asked, family);
        expect(networkHolds(network, known), `${asked} in ${one}/${bits}`).toBe(expected);
        if (expected) held += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(held).toBeGreaterThan(100);
  });

  test.each([
    ...["192.0.2.0", "192.0.2.0/", "/24", "192.0.2.0/33", "192.0.2.0/024", "192.0.2.0/24/24"],
    ...["192.0.2.1/24", "2001:db8::1/32", "2001:db8::/129", "192.0.2.0/255.255.255.0"],
    ...["::ffff:192.0.2.0/120", "192.0.2.0/+24", "192.0.2.0/24 ", "192.0.2.0/2e1", "fe80::%1/64"],
  ])("is not %j", (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });

  test("of IPv6 holds no IPv4 address, however that is spelled", () => {
    const all = parseNetwork("::/0");
    const mapped = parseAddress("::ffff:192.0.2.1");
    expect(all && mapped && networkHolds(all, mapped)).toBe(false);
  });

  test.each([
    ["10.0.0.0/8", true],
    ["10.0.0.0/7", false],
    ["0.0.0.0/0", false],
    ["2001::/16", true],
    ["::/0", false],
  ])("%s is narrow enough: %s", (text, expected) => {
    const network = parseNetwork(text);
    expect(network && isNarrow(network)).toBe(expected);
  });
});

/** The network of an address, with its other bits taken away. */
function networkOf(text: string, bits: number): { words: number[]; bits: number } {
  const words = (parseAddress(text)?.words ?? []).map((word, index) => {
    const kept = Math.min(16, Math.max(0, bits - index * 16));
    return word & (0xffff << (16 - kept)) & 0xffff;
  });
  return { words, bits };
}
