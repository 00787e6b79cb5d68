/** How the page of one event looks in one language, and the content policy that lets exactly that happen. */
import {
  alertsSource,
  logoStyle,
  proveSource,
  scriptSource,
  styleSource,
  templateStyle,
} from "#page-assets";
import type { ManifestLooks } from "@vestibule/contracts/looks";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { isLogo } from "@vestibule/looks/logo-form";
import { paletteCss, paletteOf } from "@vestibule/looks/palette";
import { templateRegions } from "@vestibule/looks/template-form";
import { asksForWork } from "../friction/asks-for-work.ts";
import { PAGE_BYTES_MAX, PAGE_MOMENT_BYTES } from "../limits.ts";
import { timing } from "../problem.ts";
import type { Choice } from "./choice.ts";
import { escape } from "./escape.ts";
import type { LookParts } from "./markup.ts";
import { pageOf } from "./page-of.ts";

export interface Look extends LookParts {
  /** Of every page of the event. What may run is named in them by its hash, and so the same for all (ADR 23). */
  readonly headers: Headers;
  /** What this language has no room for. */
  readonly leftOut: readonly string[];
}

const looks = new WeakMap<ManifestEvent, Map<string, Look>>();

/** Of each event of the present manifest: worked out once in each language. */
export function lookOf(event: ManifestEvent, choice: Choice): Look | Promise<Look> {
  return looks.get(event)?.get(choice.language.tag) ?? workOut(event, choice);
}

async function workOut(event: ManifestEvent, choice: Choice): Promise<Look> {
  const { parts, leftOut } = await fitting(event, choice);
  const headers = headersOf(policyOf(await sourceOf(parts.css), asksForWork(event)));
  const look = { ...parts, headers, leftOut };
  const known = looks.get(event) ?? new Map<string, Look>();
  looks.set(event, known.set(choice.language.tag, look));
  return look;
}

type Weighty = "template" | "logo";

/** A page is one response of a bounded length: what its language leaves no room for is left out, the template first. */
async function fitting(
  event: ManifestEvent,
  choice: Choice,
): Promise<{ readonly parts: LookParts; readonly leftOut: readonly Weighty[] }> {
  let own = event.looks ?? {};
  const leftOut: Weighty[] = [];
  for (const name of ["template", "logo"] as const) {
    if (own[name] === undefined) continue;
    const parts = partsOf(event, own);
    const pages = SAMPLES.map((sample) => pageOf({ ...sample, event, choice, look: parts }));
    if ((await Promise.all(pages.map(isShort))).every(Boolean)) return { parts, leftOut };
    own = { ...own, [name]: undefined };
    leftOut.push(name);
  }
  return { parts: partsOf(event, own), leftOut };
}

/** Somebody in line, and somebody who is not; what else a page says of its moment has room beside it. */
const SAMPLES = [{ number: 1_000_000 }, {}].map((standing) => ({
  ...{ now: 0, standing, returnPath: "/", unsent: false },
  zone: () => "UTC",
}));

/** Compressed as a network does it. */
async function isShort(page: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const compressed = new Blob([page]).stream().pipeThrough(new CompressionStream("gzip"));
  const { byteLength } = await new Response(compressed).arrayBuffer();
  return byteLength + PAGE_MOMENT_BYTES < PAGE_BYTES_MAX;
}

function partsOf({ accent, title }: ManifestEvent, own: ManifestLooks): LookParts {
  const styles = [
    paletteCss(paletteOf(accent, own.colours)),
    own.logo === undefined ? "" : logoStyle,
    own.template === undefined ? "" : templateStyle,
  ];
  return { css: styles.join(""), ...regionsOf(title, own) };
}

/** The mint has checked them; whatever has not their form all the same is left out. */
function regionsOf(
  title: string,
  { logo = "", logoAlt = "", template = "" }: ManifestLooks,
): Omit<LookParts, "css"> {
  const titled = `<span dir="auto">${escape(title)}</span>`;
  const picture = isLogo(logo)
    ? `<img class="logo" src="${escape(logo)}" alt="${escape(logoAlt)}">`
    : "";
  const { before, after } = templateRegions(template) ?? { before: "", after: "" };
  const filled = before.replace("{{logo}}", () => picture).replace("{{title}}", () => titled);
  if (before.includes("{{title}}")) return { header: filled, before: "", after };
  const above = before.includes("{{logo}}") ? "" : picture;
  return { header: `${above}<p class="title">${titled}</p>`, before: filled, after };
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

function policyOf(cssSource: string, isProving: boolean): string {
  return [
    "default-src 'none'",
    `script-src ${isProving ? `${proveSource} ` : ""}${scriptSource} ${alertsSource}`,
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
