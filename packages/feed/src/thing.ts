/** The three kinds of things a location knows, and how often it asks for each. */
import {
  DRIP_REFRESH_MS,
  JWKS_BYTES_MAX,
  JWKS_REFRESH_MS,
  MANIFEST_REFRESH_MS,
  STATEMENT_BYTES_MAX,
} from "@vestibule/contracts/limits";
import { STATEMENT_MEDIA_TYPE } from "@vestibule/contracts/names";

/** `keys`, `manifest`, or the drip of one event. Also the cache key. */
export type Thing = "keys" | "manifest" | `drip:${string}`;

export function dripOf(event: string): Thing {
  return `drip:${event}`;
}

/** The event's name when `thing` is a drip. */
export function eventOf(thing: Thing): string | undefined {
  return thing.startsWith("drip:") ? thing.slice(5) : undefined;
}

export interface ThingPlan {
  readonly path: string;
  readonly accept: string;
  readonly bytesMax: number;
  readonly refreshMs: number;
}

export function planOf(thing: Thing): ThingPlan {
  if (thing === "keys") {
    return {
      path: "/.well-known/jwks.json",
      accept: "application/jwk-set+json, application/json",
      bytesMax: JWKS_BYTES_MAX,
      refreshMs: JWKS_REFRESH_MS,
    };
  }
  const statement = { accept: STATEMENT_MEDIA_TYPE, bytesMax: STATEMENT_BYTES_MAX };
  if (thing === "manifest") {
    return { ...statement, path: "/v1/manifest", refreshMs: MANIFEST_REFRESH_MS };
  }
  const event = encodeURIComponent(thing.slice(5));
  return { ...statement, path: `/v1/events/${event}/drip`, refreshMs: DRIP_REFRESH_MS };
}
