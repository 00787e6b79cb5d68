/**
 * What went wrong, in a word that may be logged. Error texts of the driver may repeat what was sent, and what
 * was sent may be a password (its `command.args`, a server that echoes, "unknown command 'AUTH', with args …"),
 * so that only codes come through.
 */
export interface StoreTrouble {
  /** The server said so: it is there, and speaks. */
  readonly answered: boolean;
  /** `READONLY`, `LOADING`, `NOPERM`, `ECONNREFUSED`, … */
  readonly code: string;
}

export function troubleOf(error: unknown): StoreTrouble {
  if (!(error instanceof Error)) return { answered: false, code: "unknown" };
  if (error.name === "ReplyError") {
    return { answered: true, code: /^[A-Z]{2,20}(?= |$)/.exec(error.message)?.[0] ?? "ERR" };
  }
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && /^[A-Z][A-Z0-9_]{2,60}$/.test(code)) {
    return { answered: false, code };
  }
  return { answered: false, code: error.name === "ParserError" ? "rubbish" : "closed" };
}

/** Replies after which this connection is of no use: another one may lead to the right server, or log in again. */
export function isReasonToLeave(code: string): boolean {
  return ["READONLY", "MASTERDOWN", "NOAUTH", "WRONGPASS", "MOVED", "ASK"].includes(code);
}
