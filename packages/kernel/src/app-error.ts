/**
 * An error that the caller is told about. `code` names a row of the problem registry
 * (`contracts/problems`); `detail` is public; `internal` goes to the log only.
 */
export class AppError<Code extends string = string> extends Error {
  override readonly name = "AppError";
  readonly code: Code;
  readonly detail: string | undefined;
  readonly internal: string | undefined;
  /** Extra public members of the problem document (RFC 9457 section 3.2). */
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Whole seconds, 1 or more, for `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: Code,
    options: {
      detail?: string;
      internal?: string;
      extensions?: Readonly<Record<string, unknown>>;
      retryAfterSeconds?: number;
      cause?: unknown;
    } = {},
  ) {
    super(options.internal ?? options.detail ?? code, { cause: options.cause });
    this.code = code;
    this.detail = options.detail;
    this.internal = options.internal;
    this.extensions = options.extensions ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
