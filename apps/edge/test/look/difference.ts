/**
 * Two pictures compared as an eye would: slightly blurred, they are the same when nearly no point of the one is without a
 * point like it beside it (two pixels of the page) in the other. So another way to smooth the edges of letters passes, and a button that is not there, a number
 * that has moved or another colour does not.
 */
import { PNG } from "pngjs";
import { type Picture, SHRINK } from "./picture.ts";

/** How far apart one colour of like points may be, of 255. */
const COLOUR_OFF_MAX = 40;
/** So many points may be without one like them. */
const STRANGE_MAX = 6;

export function fromPng(file: Buffer): Picture {
  const { width, height, data } = PNG.sync.read(file);
  const points = new Uint8Array(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    for (let colour = 0; colour < 3; colour += 1) {
      points[at * 3 + colour] = data[at * 4 + colour] ?? 0;
    }
  }
  return { width, height, points };
}

/** What is different, in words; `undefined` when they are the same. */
export function differenceOf(keptPicture: Picture, seenPicture: Picture): string | undefined {
  const [kept, seen] = [blurred(keptPicture), blurred(seenPicture)];
  if (kept.width !== seen.width || kept.height !== seen.height) {
    return `is ${seen.width} × ${seen.height}, kept ${kept.width} × ${kept.height}`;
  }
  const strange = [...strangeIn(kept, seen), ...strangeIn(seen, kept)];
  if (strange.length <= STRANGE_MAX) return undefined;
  const xs = strange.map((at) => (at % kept.width) * SHRINK);
  const ys = strange.map((at) => Math.floor(at / kept.width) * SHRINK);
  const span = (of: readonly number[]) => `${Math.min(...of)} to ${Math.max(...of)}`;
  return `${strange.length} points differ, x ${span(xs)}, y ${span(ys)}`;
}

/** Each point the mean of those around it: where the edge of a letter is smoothed, says little by then. */
function blurred({ width, height, points }: Picture): Picture {
  const soft = new Uint8Array(points.length);
  for (let at = 0; at < width * height; at += 1) {
    const around = neighbours(at, width, height);
    for (let colour = 0; colour < 3; colour += 1) {
      let sum = 0;
      for (const there of around) sum += points[there * 3 + colour] ?? 0;
      soft[at * 3 + colour] = Math.round(sum / around.length);
    }
  }
  return { width, height, points: soft };
}

/** Points of `one` that have none like them close by in `other`. */
function strangeIn(one: Picture, other: Picture): readonly number[] {
  const strange: number[] = [];
  for (let at = 0; at < one.width * one.height; at += 1) {
    if (!isLike(one, at, other, at) && !hasLikeNearby(one, at, other)) strange.push(at);
  }
  return strange;
}

function hasLikeNearby(one: Picture, at: number, other: Picture): boolean {
  return neighbours(at, one.width, one.height).some((there) => isLike(one, at, other, there));
}

/** The point itself, and those that touch it. */
function neighbours(at: number, width: number, height: number): readonly number[] {
  const [x, y] = [at % width, Math.floor(at / width)];
  const found: number[] = [];
  for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row += 1) {
    for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column += 1) {
      found.push(row * width + column);
    }
  }
  return found;
}

function isLike(one: Picture, at: number, other: Picture, there: number): boolean {
  for (let colour = 0; colour < 3; colour += 1) {
    const off = (one.points[at * 3 + colour] ?? 0) - (other.points[there * 3 + colour] ?? 0);
    if (Math.abs(off) > COLOUR_OFF_MAX) return false;
  }
  return true;
}
