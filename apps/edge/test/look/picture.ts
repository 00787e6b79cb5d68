/** Pictures of pages as they are kept: at half their size, with 16 steps of each colour, some 4 KB each. */
import { crc32, deflateSync } from "node:zlib";
import { PNG } from "pngjs";

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue of each point, by rows. */
  readonly points: Uint8Array;
}

/** One point of a picture is so many pixels of the page wide and high. */
export const SHRINK = 2;
/** From one step of a colour to the next, of 255: what differs in less is told from nothing here. */
const STEP = 17;
/** A screenshot, as it is kept. */
export function pictureOf(screenshot: Buffer): Picture {
  const { width: wide, height: high, data } = PNG.sync.read(screenshot);
  const width = Math.floor(wide / SHRINK);
  const height = Math.floor(high / SHRINK);
  const points = new Uint8Array(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    const [x, y] = [(at % width) * SHRINK, Math.floor(at / width) * SHRINK];
    for (let colour = 0; colour < 3; colour += 1) {
      let sum = 0;
      for (let i = 0; i < SHRINK * SHRINK; i += 1) {
        const from = (y + Math.floor(i / SHRINK)) * wide + x + (i % SHRINK);
        sum += data[from * 4 + colour] ?? 0;
      }
      const mean = sum / (SHRINK * SHRINK);
      points[at * 3 + colour] = Math.min(255, Math.round(mean / STEP) * STEP);
    }
  }
  return { width, height, points };
}

/** With a palette, which pngjs only reads: a third of the bytes. @throws RangeError from 257 colours on */
export function toPng({ width, height, points }: Picture): Buffer {
  const colours = new Map<number, number>();
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < width * height; at += 1) {
    const colour = Buffer.from(points.subarray(at * 3, at * 3 + 3)).readUIntBE(0, 3);
    if (!colours.has(colour)) colours.set(colour, colours.size);
    // Each row begins with its filter: none.
    rows[at + Math.floor(at / width) + 1] = colours.get(colour) ?? 0;
  }
  if (colours.size > 256) throw new RangeError(`${colours.size} colours`);
  const palette = Buffer.alloc(colours.size * 3);
  for (const [colour, index] of colours) palette.writeUIntBE(colour, index * 3, 3);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("PLTE", palette),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
