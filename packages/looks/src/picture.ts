/** What the head of a png, webp or jpeg says: whether it is one, how large it is when it is shown, and whether it moves. */

/** Each side, in pixels: the few bytes of a picture can say that it is a gigabyte. */
const SIDE_MAX = 2_048;

type Kind = "png" | "webp" | "jpeg";

/** What is wrong, in words; none: nothing. */
export function pictureMistakes(kind: Kind, bytes: Uint8Array): readonly string[] {
  const size = SIZES[kind](bytes);
  if (size === undefined) return [`It is not a ${kind}`];
  const mistakes: string[] = [];
  if (size.some((side) => side < 1 || side > SIDE_MAX))
    mistakes.push(`Each side must be 1 to ${SIDE_MAX} pixels`);
  // Nothing on the page moves by itself (WCAG 2.2.2).
  if (holds(bytes, kind === "png" ? "acTL" : "ANIM") && kind !== "jpeg")
    mistakes.push("It must not move");
  return mistakes;
}

type Size = readonly [width: number, height: number];

const SIZES: Readonly<Record<Kind, (bytes: Uint8Array) => Size | undefined>> = {
  png: (bytes) =>
    ascii(bytes, 1, 3) === "PNG" && ascii(bytes, 12, 4) === "IHDR"
      ? [big(bytes, 16, 4), big(bytes, 20, 4)]
      : undefined,
  webp: (bytes) => {
    if (ascii(bytes, 0, 4) !== "RIFF" || ascii(bytes, 8, 4) !== "WEBP") return undefined;
    const kind = ascii(bytes, 12, 4);
    if (kind === "VP8X") return [little(bytes, 24, 3) + 1, little(bytes, 27, 3) + 1];
    if (kind === "VP8 ") return [little(bytes, 26, 2) & 0x3fff, little(bytes, 28, 2) & 0x3fff];
    if (kind !== "VP8L") return undefined;
    const bits = little(bytes, 21, 4);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  },
  jpeg: (bytes) => {
    if (big(bytes, 0, 2) !== 0xffd8) return undefined;
    // From marker to marker, up to the frame's.
    for (let at = 2; at < bytes.length && bytes[at] === 0xff;) {
      const marker = bytes[at + 1] ?? 0;
      const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
      if (isFrame) return [big(bytes, at + 7, 2), big(bytes, at + 5, 2)];
      at += 2 + big(bytes, at + 2, 2);
    }
    return undefined;
  },
};

function ascii(bytes: Uint8Array, from: number, count: number): string {
  return String.fromCharCode(...bytes.subarray(from, from + count));
}

function big(bytes: Uint8Array, from: number, count: number): number {
  return bytes.subarray(from, from + count).reduce((sum, byte) => sum * 256 + byte, 0);
}

function little(bytes: Uint8Array, from: number, count: number): number {
  return bytes.subarray(from, from + count).reduceRight((sum, byte) => sum * 256 + byte, 0);
}

function holds(bytes: Uint8Array, word: string): boolean {
  for (let at = 0; at + 4 <= bytes.length; at += 1) if (ascii(bytes, at, 4) === word) return true;
  return false;
}
