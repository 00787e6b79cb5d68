/** How the page of one event looks, and the content policy that lets exactly that happen. */
import { scriptSource, styleSource } from "#page-assets";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { timing } from "../problem.ts";
import { accentFor } from "./accent.ts";

export interface Look {
  /** A style sheet of its own, before the one that all pages share. */
  readonly css: string;
  /** Of every page of the event. What may run is named in them by its hash, and so the same for all (ADR 23). */
  readonly headers: Headers;
}

const looks = new WeakMap<ManifestEvent, Look>();

/** Of each event of the present manifest: worked out once. */
export function lookOf(event: ManifestEvent): Look | Promise<Look> {
  return looks.get(event) ?? workOut(event);
}

async function workOut(event: ManifestEvent): Promise<Look> {
  const { light, dark } = accentFor(event.accent);
  const css = `:root{--accent:${light};--accent-dark:${dark}}`;
  const look = { css, headers: headersOf(policyOf(await sourceOf(css))) };
  looks.set(event, look);
  return look;
}

function headersOf(policy: string): Headers {
  return new Headers({
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": policy,
    "X-Robots-Tag": "noindex",
    "Server-Timing": timing("page"),
    "X-Content-Type-Options": "nosniff",
    // Same-origin, so that a form without JavaScript still says where it comes from.
    "Referrer-Policy": "same-origin",
    Vary: "Accept, Sec-Fetch-Dest, Accept-Language, Cookie",
  });
}

function policyOf(cssSource: string): string {
  return [
    "default-src 'none'",
    `script-src ${scriptSource}`,
    `style-src ${styleSource} ${cssSource}`,
    "img-src data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

async function sourceOf(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(hash)))}'`;
}
