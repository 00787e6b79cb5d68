/**
 * A start that cannot go on, told in one line that says what to do. No stack trace: whoever reads
 * it wants to see a sale, not our sources.
 */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly exitCode: number;

  /** @param exitCode 2 for what was asked in the wrong way, 1 for everything else. */
  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}

const FULL = /no space left on device|disk quota exceeded|ENOSPC|EDQUOT/i;

/** True when these words of a program, or this error, are about a full disk. */
export function isDiskFull(words: unknown): boolean {
  return FULL.test(words instanceof Error ? `${codeOf(words)} ${words.message}` : String(words));
}

export function diskFull(directory: string): StartFailure {
  return new StartFailure(
    `The disk is full: ${directory} cannot take more. Free some space there, or choose another place with --data DIR.`,
  );
}

/** Turns whatever went wrong with files in `directory` into a line with what to do. */
export function explainFileError(error: unknown, directory: string): Error {
  if (error instanceof StartFailure) return error;
  if (isDiskFull(error)) return diskFull(directory);
  const code = codeOf(error);
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new StartFailure(
      `${directory} cannot be written (${code}). Start as the user whom it belongs to, or choose another place with --data DIR.`,
      { cause: error },
    );
  }
  if (code === "ENOTDIR" || code === "EEXIST") {
    return new StartFailure(`${directory} is not a directory. Choose another with --data DIR.`, {
      cause: error,
    });
  }
  return error instanceof Error ? error : new Error(String(error));
}

/** What to print for `error`: its own line when it is ours, else the message and where logs are. */
export function lineFor(error: unknown): string {
  if (error instanceof StartFailure) return error.message;
  if (isDiskFull(error)) return "The disk is full: free some space and start again.";
  return `It did not start: ${error instanceof Error ? error.message : String(error)}`;
}

export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}
