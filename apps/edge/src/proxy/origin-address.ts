/** Where the origin is, and under which name it is asked. */
import type { EdgeConfig } from "../config.ts";
import type { Address } from "../routing/address.ts";

type OriginConfig = Pick<EdgeConfig, "originUrl" | "originHost">;

/** The address without the path. */
export function originBase({ originUrl, originHost }: OriginConfig, { host }: Address): string {
  if (originHost === "origin") return originUrl;
  const { protocol, pathname } = new URL(originUrl);
  return `${protocol}//${host}${pathname.replace(/\/$/, "")}`;
}

/**
 * Under the visitor's host a request goes to the machine of `ORIGIN_URL` all the same: the network sees to that for two names
 * of one zone, and else goes where the visitor's host leads behind it.
 */
export function addressOrigin(init: RequestInit, { originUrl, originHost }: OriginConfig): void {
  if (originHost === "visitor") init.cf = { resolveOverride: new URL(originUrl).hostname };
}

/**
 * The public address of `location` where that is an address of the origin under its own name, which nobody can reach;
 * any other as it is (EP-01, EP-03).
 */
export function publicLocation(
  { originUrl, originHost }: OriginConfig,
  { origin }: Address,
  location: string,
): string {
  if (originHost !== "origin" || !location.startsWith(originUrl)) return location;
  const rest = location.slice(originUrl.length);
  return rest === "" || /^[/?#]/.test(rest) ? origin + rest : location;
}
