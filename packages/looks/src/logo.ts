/** The organizer's logo: a data URI, so that the page stays one response, checked and written anew. */
import { decodeBase64url } from "@vestibule/keys/base64url";
import { pictureMistakes } from "./picture.ts";
import { readSvg } from "./svg.ts";

const PICTURE = /^data:image\/(png|webp|jpeg);base64,([A-Za-z0-9+/]+)={0,2}$/;
const SVG = /^data:image\/svg\+xml(?:;charset=utf-8|;utf8)?(;base64)?,([!-~]+)$/i;

interface Read {
  readonly uri: string;
  readonly mistakes: readonly string[];
}

const NO_LOGO: Read = {
  uri: "",
  mistakes: ["Must be a data URI of image/png, image/webp, image/jpeg or image/svg+xml"],
};

/** Reading what it has written changes nothing. */
export function readLogo(uri: string): Read {
  const [, kind, picture] = PICTURE.exec(uri) ?? [];
  if (picture !== undefined) {
    const bytes = decodeBase64(picture);
    if (bytes === undefined) return NO_LOGO;
    return { uri, mistakes: pictureMistakes(kind as "png", bytes) };
  }
  const [, base64, drawing] = SVG.exec(uri) ?? [];
  const source = drawing && textOf(drawing, base64 !== undefined);
  if (source === undefined || source === "") return NO_LOGO;
  const { text, mistakes } = readSvg(source);
  return { uri: mistakes.length > 0 ? "" : `data:image/svg+xml,${encoded(text)}`, mistakes };
}

function textOf(data: string, isBase64: boolean): string | undefined {
  try {
    if (!isBase64) return decodeURIComponent(data);
    const bytes = decodeBase64(data.replace(/=+$/, ""));
    const escaped = bytes && [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`);
    return escaped && decodeURIComponent(escaped.join(""));
  } catch {
    // Not UTF-8.
    return undefined;
  }
}

/** All but what a data URI cannot hold stays readable: that compresses best. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/%(2[0-24-9A-F]|3[A-F]|40|5[BD]|7[BD])/g, (escape) =>
    escape === "%25" || escape === "%20" ? escape : decodeURIComponent(escape),
  );
}

function decodeBase64(text: string): Uint8Array | undefined {
  return decodeBase64url(text.replaceAll("+", "-").replaceAll("/", "_"));
}
