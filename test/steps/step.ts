/** What a step of `pnpm test` reports. A skipped test must say why, or it counts as failed. */
export interface StepResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly { readonly what: string; readonly why: string }[];
}

export interface Step {
  readonly name: string;
  readonly about: string;
  /** Whether it runs test files, which words on the command line can narrow. */
  readonly runsFiles: boolean;
  /** @param filters what else stood on the command line; steps that run no test files ignore it. */
  readonly run: (filters: readonly string[]) => Promise<StepResult>;
}

/** The result of a check that either holds or does not. */
export function verdict(...checks: readonly boolean[]): StepResult {
  const passed = checks.filter(Boolean).length;
  return { passed, failed: checks.length - passed, skipped: [] };
}
