/** `GET /_vestibule/events/{event}`: what an app needs to know of the event besides the drip. The same bytes for everyone. */
import type { EdgeEvent } from "@vestibule/contracts/line-api";
import type { ManifestEvent } from "@vestibule/contracts/statements";

/** Settings change with the manifest, which reaches a location within seconds; a copy may be as much older again. */
const CACHED = "public, max-age=5, stale-if-error=300";

const encoder = new TextEncoder();
/** Of each event of the present manifest: encoded once. */
const encoded = new WeakMap<ManifestEvent, Uint8Array<ArrayBuffer>>();

export function getEvent(event: ManifestEvent): Response {
  let body = encoded.get(event);
  if (body === undefined) {
    body = new Uint8Array(encoder.encode(JSON.stringify(settingsOf(event))));
    encoded.set(event, body);
  }
  return new Response(body, {
    headers: { "Content-Type": "application/json", "Cache-Control": CACHED },
  });
}

/** Named one by one: routes and what opens them are nobody's business. */
function settingsOf(event: ManifestEvent): EdgeEvent {
  return {
    event: event.event,
    title: event.title,
    homePath: event.homePath,
    lifetimeSeconds: event.lifetimeSeconds,
    claimWindowSeconds: event.claimWindowSeconds,
    accent: event.accent,
    looks: event.looks,
    friction: event.friction,
    language: event.language,
    endsAt: event.endsAt,
    startsAt: event.startsAt,
    joinableAt: event.joinableAt,
  };
}
