/**
 * Internet addresses and networks, read strictly: whatever has a second meaning for some other reader is none. No zone
 * ids, no leading zeros, no shortened IPv4, no network with bits beyond its prefix (RFC 4291, RFC 4632, RFC 6943).
 */

/** 16 bits each, from the front: two of an IPv4 address, eight of an IPv6 address. */
type Words = readonly number[];

/** An IPv4 address that is written as IPv6 (`::ffff:192.0.2.1`) is the IPv4 address. */
export interface IpAddress {
  readonly words: Words;
}

export interface IpNetwork extends IpAddress {
  /** Bits from the front that decide. */
  readonly bits: number;
}

/** `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255` */
const ADDRESS_CHARS_MAX = 45;
/** Address, `/` and a number to 128. */
export const NETWORK_CHARS_MAX: number = ADDRESS_CHARS_MAX + 4;
const [WORDS_IPV4, WORDS_IPV6, WORD_BITS] = [2, 8, 16];
/** Wider ones are a condition in name only. */
export const NETWORK_BITS_MIN = { ipv4: 8, ipv6: 16 } as const;

const PART_IPV4 = /^(?:0|[1-9]\d{0,2})$/;
const PART_IPV6 = /^[0-9a-f]{1,4}$/i;
const BITS = /^(?:0|[1-9]\d{0,2})$/;

/** `undefined`: no address, or not in a spelling that everybody reads alike. */
export function parseAddress(text: string): IpAddress | undefined {
  if (text.length > ADDRESS_CHARS_MAX) return undefined;
  if (!text.includes(":")) return asAddress(wordsOfIpv4(text));
  const words = wordsOfIpv6(text);
  return asAddress(words !== undefined && isMapped(words) ? words.slice(-WORDS_IPV4) : words);
}

/** `undefined`: no network. One that has both families in it, as `::/0` has, there is not: neither holds the other's. */
export function parseNetwork(text: string): IpNetwork | undefined {
  const [address = "", length = "", ...rest] = text.split("/");
  if (text.length > NETWORK_CHARS_MAX || rest.length > 0 || !BITS.test(length)) return undefined;
  const words = parseAddress(address)?.words;
  // IPv4 is written as IPv4 here.
  if (words === undefined || address.includes(":") === (words.length === WORDS_IPV4))
    return undefined;
  const bits = Number(length);
  if (bits > words.length * WORD_BITS) return undefined;
  const isWhole = words.every((word, index) => (word & ~maskOf(bits, index)) === 0);
  return isWhole ? { words, bits } : undefined;
}

export function networkHolds({ words, bits }: IpNetwork, address: IpAddress): boolean {
  if (words.length !== address.words.length) return false;
  return words.every((word, index) => {
    const other = address.words[index] ?? 0;
    return ((word ^ other) & maskOf(bits, index)) === 0;
  });
}

/** Is it narrow enough to be a condition? */
export function isNarrow({ words, bits }: IpNetwork): boolean {
  return bits >= (words.length === WORDS_IPV4 ? NETWORK_BITS_MIN.ipv4 : NETWORK_BITS_MIN.ipv6);
}

/** The bits of word `index` that are among the first `bits`. */
function maskOf(bits: number, index: number): number {
  const kept = Math.min(WORD_BITS, Math.max(0, bits - index * WORD_BITS));
  return (0xffff << (WORD_BITS - kept)) & 0xffff;
}

function asAddress(words: Words | undefined): IpAddress | undefined {
  return words === undefined ? undefined : { words };
}

function wordsOfIpv4(text: string): Words | undefined {
  const parts = text.split(".");
  if (parts.length !== 2 * WORDS_IPV4 || !parts.every((part) => PART_IPV4.test(part)))
    return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number);
  return Math.max(a, b, c, d) > 255 ? undefined : [(a << 8) | b, (c << 8) | d];
}

function wordsOfIpv6(text: string): Words | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [front = "", back] = halves;
  const head = wordsOf(front, back === undefined);
  const tail = back === undefined ? [] : wordsOf(back, true);
  if (head === undefined || tail === undefined) return undefined;
  const left = WORDS_IPV6 - head.length - tail.length;
  // `::` stands for one group or more.
  if (back === undefined ? left !== 0 : left < 1) return undefined;
  return [...head, ...Array.from({ length: left }, () => 0), ...tail];
}

/** Groups between colons; the last one of an address may be IPv4. */
function wordsOf(text: string, isEnd: boolean): Words | undefined {
  if (text === "") return [];
  const words: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const isLast = isEnd && index === parts.length - 1;
    if (PART_IPV6.test(part)) words.push(Number.parseInt(part, 16));
    else {
      const embedded = isLast ? wordsOfIpv4(part) : undefined;
      if (embedded === undefined) return undefined;
      words.push(...embedded);
    }
  }
  return words;
}

function isMapped(words: Words): boolean {
  return words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff;
}
