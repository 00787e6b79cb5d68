/**
 * Whose address a request is counted under. Only `X-Forwarded-For` is ever read, and of it only the
 * entry that a proxy of ours wrote; `Forwarded`, `X-Real-IP` and `CF-Connecting-IP` are the client's to invent.
 */
import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";

export const TRUST_PROXY_HOPS_MAX = 10;

export interface AddressSource {
  /** The peer of the connection; `undefined` when it is gone, or no IP connection. */
  readonly socket: string | undefined;
  /** All header lines of `X-Forwarded-For`, joined with commas in their order. */
  readonly forwardedFor: string | undefined;
  /** How many proxies stand before us, each of which appends the address it was called from. */
  readonly hops: number;
}

/** One bucket for all of whom nothing is known. */
const UNKNOWN = "unknown";

/** @param hops Proxies before this service that append to `X-Forwarded-For`; 0: the header is not read. */
export function addressOfRequest(incoming: IncomingMessage, hops: number): string {
  return clientAddress({
    socket: incoming.socket.remoteAddress,
    forwardedFor: incoming.headersDistinct["x-forwarded-for"]?.join(","),
    hops,
  });
}

/**
 * With `hops` proxies: the entry that many places from the right, which the outermost of them wrote. When it
 * is missing or no address, and without proxies: the peer of the connection.
 *
 * @returns an IPv4 address, an IPv6 /64 (`2001:db8:0:1::/64`: what one customer is given, so that nobody
 * has 2^64 identities), or `unknown`.
 */
export function clientAddress({ socket, forwardedFor, hops }: AddressSource): string {
  const peer = socket === undefined ? undefined : canonicalAddress(socket);
  if (hops === 0 || forwardedFor === undefined) return peer ?? UNKNOWN;
  const entry = forwardedFor.split(",").at(-hops);
  return (entry === undefined ? undefined : canonicalAddress(entry)) ?? peer ?? UNKNOWN;
}

/**
 * One text for each IPv4 address and each IPv6 /64, whatever its spelling: with or without port, brackets and
 * zone; IPv4-mapped IPv6 is IPv4. `undefined` for whatever is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const [, inBrackets] = /^\[([^[\]]*)\](?::\d{1,5})?$/.exec(trimmed) ?? [];
  const host = inBrackets ?? trimmed;
  if (inBrackets === undefined) {
    const v4 = host.replace(/:\d{1,5}$/, "");
    if (isIPv4(v4)) return v4;
  }
  const v6 = host.replace(/%.*$/s, "");
  return isIPv6(v6) ? ofIPv6(v6) : undefined;
}

function ofIPv6(text: string): string {
  const groups = groupsOf(text);
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, mark = 0, high = 0, low = 0] =
    groups;
  const isMapped = mark === 0xffff && [first, second, third, fourth, fifth].every((g) => g === 0);
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  return `${[first, second, third, fourth].map((group) => group.toString(16)).join(":")}::/64`;
}

/** The eight 16-bit groups of a valid address. */
function groupsOf(text: string): number[] {
  const [left = "", right] = text.split("::");
  const head = halfOf(left);
  if (right === undefined) return head;
  const tail = halfOf(right);
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function halfOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
