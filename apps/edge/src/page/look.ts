/** How the page of one event looks, and the content policy that lets exactly that happen. */
import { looksStyle, scriptSource, styleSource } from "#page-assets";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { isLogo } from "@vestibule/looks/logo-form";
import { paletteCss, paletteOf } from "@vestibule/looks/palette";
import { templateRegions } from "@vestibule/looks/template-form";
import { timing } from "../problem.ts";
import { escape } from "./escape.ts";

export interface Look {
  /** A style sheet of its own, before the one that all pages share. */
  readonly css: string;
  /** Of every page of the event. What may run is named in them by its hash, and so the same for all (ADR 23). */
  readonly headers: Headers;
  /** HTML of the header, before and after the line of the organizer's own words, and of the foot. */
  readonly header: string;
  readonly before: string;
  readonly after: string;
}

const looks = new WeakMap<ManifestEvent, Look>();

/** Of each event of the present manifest: worked out once. */
export function lookOf(event: ManifestEvent): Look | Promise<Look> {
  return looks.get(event) ?? workOut(event);
}

async function workOut(event: ManifestEvent): Promise<Look> {
  const css = cssOf(event);
  const look = { css, headers: headersOf(policyOf(await sourceOf(css))), ...regionsOf(event) };
  looks.set(event, look);
  return look;
}

function cssOf({ accent, looks: own }: ManifestEvent): string {
  const colours = paletteCss(paletteOf(accent, own?.colours));
  const isPlain = [own?.logo, own?.texts, own?.template].every((part) => part === undefined);
  return isPlain ? colours : colours + looksStyle;
}

/** The mint has checked them; whatever has not their form all the same is left out. */
function regionsOf({
  title,
  looks: own,
}: ManifestEvent): Pick<Look, "header" | "before" | "after"> {
  const titled = `<span dir="auto">${escape(title)}</span>`;
  const { logo = "", logoAlt = "" } = own ?? {};
  const picture = isLogo(logo)
    ? `<img class="logo" src="${escape(logo)}" alt="${escape(logoAlt)}">`
    : "";
  const { before, after } = templateRegions(own?.template ?? "") ?? { before: "", after: "" };
  const filled = before.replace("{{logo}}", () => picture).replace("{{title}}", () => titled);
  return before.includes("{{title}}")
    ? { header: filled, before: "", after }
    : {
        header: `${before.includes("{{logo}}") ? "" : picture}<p class="title">${titled}</p>`,
        before: filled,
        after,
      };
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
