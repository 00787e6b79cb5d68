/** Looks as an organizer sends them, checked as a whole: what the mint keeps and signs is what this has written. */
import { LOOKS_JSON_BYTES_MAX, LOOKS_PAGE_BYTES_MAX } from "@vestibule/contracts/limits";
import type { Looks } from "@vestibule/contracts/looks";
import type { Mistake } from "@vestibule/contracts/parse";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import { readLogo } from "./logo.ts";
import { colourMistakes } from "./palette.ts";
import { readTemplate } from "./template.ts";

export interface CheckOptions {
  /** The event's accent, `#rrggbb`. */
  readonly accent: string;
  /** Bytes that a text takes, deflated. */
  readonly compressedBytes: (text: string) => number;
}

/** Checked again, they stay as they are. Refused with everything that is wrong, each by its field (`logo`, `colours.light.ink`). */
export function checkLooks(
  looks: Looks,
  { accent, compressedBytes }: CheckOptions,
): Result<Looks, readonly Mistake[]> {
  const mistakes: Mistake[] = [];
  const wrong = (field: string, messages: readonly string[]): void =>
    void mistakes.push(...messages.map((message) => ({ field, message })));
  const logo = looks.logo === undefined ? undefined : readLogo(looks.logo);
  wrong("logo", logo?.mistakes ?? []);
  if (logo !== undefined && looks.logoAlt === undefined)
    wrong("logoAlt", ["Must say what the logo says, for whoever does not see it"]);
  if (logo === undefined && looks.logoAlt !== undefined) wrong("logoAlt", ["There is no logo"]);
  mistakes.push(...colourMistakes(accent, looks.colours));
  const hasLogo = logo !== undefined;
  const template =
    looks.template === undefined ? undefined : readTemplate(looks.template, { hasLogo });
  wrong("template", template?.mistakes ?? []);
  if (mistakes.length > 0) return refuse(mistakes);
  const checked = {
    ...looks,
    ...(logo === undefined ? {} : { logo: logo.uri }),
    ...(template === undefined ? {} : { template: template.html }),
  };
  const sizes = sizeMistakes(checked, compressedBytes);
  return sizes.length > 0 ? refuse(sizes) : ok(checked);
}

/** Of all together: `field` is "". */
function sizeMistakes(
  looks: Looks,
  compressedBytes: CheckOptions["compressedBytes"],
): readonly Mistake[] {
  const messages: string[] = [];
  const bytes = utf8Bytes(JSON.stringify(looks));
  if (bytes > LOOKS_JSON_BYTES_MAX)
    messages.push(`Must be at most ${LOOKS_JSON_BYTES_MAX} bytes as JSON, and is ${bytes}`);
  const pageBytes = addedBytes(looks, compressedBytes);
  if (pageBytes > LOOKS_PAGE_BYTES_MAX)
    messages.push(
      `Logo, template and words of one language add ${pageBytes} bytes to each page, compressed, and may add ${LOOKS_PAGE_BYTES_MAX}`,
    );
  return messages.map((message) => ({ field: "", message }));
}

/** What a page says of them, which is in one language. Base64 between text hardly compresses: a byte for each character. */
function addedBytes(
  { logo = "", logoAlt = "", template = "", texts = {} }: Looks,
  compressedBytes: CheckOptions["compressedBytes"],
): number {
  const isPixels = logo.includes(";base64,");
  const everywhere = `${isPixels ? "" : logo} ${logoAlt} ${template}`;
  const words = Object.values(texts).map((own) => Object.values(own).join(" "));
  const bytes = ["", ...words].map((text) => compressedBytes(`${everywhere} ${text}`));
  return Math.max(...bytes) + (isPixels ? logo.length : 0);
}

function utf8Bytes(text: string): number {
  return encodeURIComponent(text).replace(/%../g, "x").length;
}
