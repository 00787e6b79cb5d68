import { CliFailure } from "../failure.ts";
import { MISTAKES_TOLD_MAX } from "../limits.ts";
import { oneLine, plural } from "../terminal/words.ts";

/** A file that is refused whole: every mistake of it, as far as a person reads. */
export function listFailure(path: string, mistakes: readonly string[]): CliFailure {
  const shown = mistakes.slice(0, MISTAKES_TOLD_MAX).map((mistake) => `  ${mistake}`);
  const more = mistakes.length - shown.length;
  const message = [
    `${oneLine(path)} has ${plural(mistakes.length, "mistake")}, and nothing was done:`,
    ...shown,
    ...(more === 0 ? [] : [`  and ${plural(more, "more", "more")}`]),
  ].join("\n");
  return new CliFailure(message, undefined, { mistakes: mistakes.length });
}
