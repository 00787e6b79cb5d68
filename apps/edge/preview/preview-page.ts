/** The page in several states, each in a frame, light and dark. */
import { LANGUAGES } from "@vestibule/contracts/languages";
import type { Looks } from "@vestibule/contracts/looks";
import type { DripView, ManifestEvent } from "@vestibule/contracts/statements";
import { escape } from "../src/page/escape.ts";
import { type Moment, renderPage } from "./render.ts";

export interface Previewed {
  readonly title: string;
  readonly accent: string;
  readonly looks: Looks;
  /** A language of the page (BCP 47). */
  readonly tag: string;
}

/** Some moment of some sale. */
const NOW = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const NUMBER = 1_204;

const opensIn = (ms: number): Partial<DripView> => ({
  segments: [{ base: NUMBER, count: 1, from: NOW + ms, until: NOW + ms + 1_000 }],
  committed: NUMBER,
});
type Standing = Moment["standing"];
const STATES: readonly (readonly [name: string, drip: Partial<DripView>, standing?: Standing])[] = [
  ["In line", {}],
  ["Exact time known", opensIn(MINUTE_MS)],
  [
    "Your turn",
    opensIn(-MINUTE_MS),
    { number: NUMBER, claimed: { opensAt: NOW - MINUTE_MS, closesAt: NOW } },
  ],
  ["Missed", {}, { missed: true }],
  ["Sold out", { state: "soldout" }, { number: undefined }],
  ["Ended", { state: "ended" }],
];

/** Whatever the device prefers: for which media the dark colours are. */
const SCHEMES = [
  ["light", "not all"],
  ["dark", "all"],
] as const;

export async function previewPage(previewed: Previewed): Promise<string> {
  const frames: string[] = [];
  for (const [name, drip, standing] of STATES) {
    const page = await pageIn(previewed, drip, standing);
    for (const [scheme, media] of SCHEMES) {
      const shown = page.replaceAll("@media(prefers-color-scheme:dark)", `@media ${media}`);
      frames.push(
        `<figure><figcaption>${name}, ${scheme}</figcaption><iframe title="${name}, ${scheme}" sandbox srcdoc="${escape(shown)}"></iframe></figure>`,
      );
    }
  }
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Looks of ${escape(previewed.title)}</title>
<style>body{margin:1.5rem;font:1rem system-ui;display:flex;flex-wrap:wrap;gap:1.5rem;background:#888}figure{margin:0}iframe{display:block;width:390px;height:780px;border:0}figcaption{margin-bottom:.5rem}</style>
<body>${frames.join("\n")}
`;
}

async function pageIn(
  previewed: Previewed,
  drip: Partial<DripView>,
  standing: Standing = { number: NUMBER },
): Promise<string> {
  const event = eventOf(previewed);
  const { tag } = previewed;
  const known: DripView = {
    ...{ event: "preview", iat: NOW / 1_000, exp: NOW / 1_000 + 60, at: NOW, seq: 1 },
    ...{ state: "open", segments: [], serving: 12, committed: 12, skips: [], cuts: [] },
    ...{ issued: 5_000, rate: 60, notice: "", endsAt: event.endsAt },
    ...drip,
  };
  const { page } = await renderPage({ event, tag, now: NOW, drip: known, standing });
  const html = Buffer.from(page).toString();
  // As it is while its script runs, which does not in a frame.
  return html.replace("<html ", '<html class="js" ').replace(/<noscript>.*?<\/noscript>/s, "");
}

function eventOf({ title, accent, looks }: Omit<Previewed, "tag">): ManifestEvent {
  const endsAt = NOW + 1_000 * MINUTE_MS;
  return {
    ...{ event: "preview", title, accent, looks, endsAt, holdingStatus: 200 },
    ...{ hosts: [], paths: [], bypass: [], homePath: "/" },
    ...{ lifetimeSeconds: 600, claimWindowSeconds: 180 },
  };
}

/** By language, what of the looks it has no room for; only those are named that leave anything out. */
export async function leftOut(
  previewed: Omit<Previewed, "tag">,
): Promise<readonly (readonly [tag: string, parts: readonly string[]])[]> {
  const event = eventOf(previewed);
  const all = LANGUAGES.map(async (tag) => {
    const rendered = await renderPage({ event, tag, now: NOW, standing: {} });
    return [tag, rendered.leftOut] as const;
  });
  return (await Promise.all(all)).filter(([, parts]) => parts.length > 0);
}
