/** How a command ends other than well. */

export const EXIT = {
  done: 0,
  /** It was refused, failed, or found what it looks for. */
  failed: 1,
  /** Mistakes in arguments or environment: nothing was asked of anybody. */
  usage: 2,
  /** Nobody said yes. */
  unconfirmed: 3,
  /** Refused for now: the message says until when. */
  notYet: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command. The message is for the person before the terminal, and holds no secret. */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  readonly exitCode: ExitCode;
  /** For `--json`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    exitCode: ExitCode = EXIT.failed,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.exitCode = exitCode;
    this.details = details;
  }
}

export class InterruptedError extends CliFailure {
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message, EXIT.interrupted, { interrupted: true, ...details });
  }
}
