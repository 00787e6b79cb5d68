/** Runs somebody's verifier as a process of its own: questions in, answers out, both as lines of JSON. */
import { spawn } from "node:child_process";

import { type Answer, readAnswer } from "./judge.ts";
import type { Question } from "./pack.ts";

/** An answer is an id, a yes or no, and a few words. */
const ANSWER_CHARS_MAX = 4_096;
const TOO_LONG = `an answer is longer than ${ANSWER_CHARS_MAX} characters`;
/** Kept of what it says on stderr: the end. */
const LAST_WORDS_CHARS_MAX = 4_000;
/** From the deadline's SIGTERM to SIGKILL. */
const GRACE_MS = 1_000;

export interface Outcome {
  readonly answers: ReadonlyMap<string, Answer>;
  /** Why the run is worth nothing, whatever was answered: a crash, a deadline, a line that is no answer. */
  readonly broken: string | undefined;
  /** The end of its stderr. */
  readonly lastWords: string;
}

/**
 * Feeds all questions, closes stdin, and waits until the process has ended. It may answer in any order, at
 * once or at the end, each question once.
 *
 * @param options.timeoutMs for the whole run; the process is killed then.
 * @param options.environment variables that it gets besides ours.
 */
export async function askVerifier(
  command: readonly [string, ...string[]],
  questions: readonly Question[],
  options: { readonly timeoutMs: number; readonly environment?: Readonly<Record<string, string>> },
): Promise<Outcome> {
  const asked = new Set(questions.map(({ id }) => id));
  const answers = new Map<string, Answer>();
  let broken: string | undefined;
  let lastWords = "";
  let pending = "";

  const [program, ...words] = command;
  const child = spawn(program, words, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...options.environment },
  });
  const stop = (why: string): void => {
    broken ??= why;
    child.kill("SIGKILL");
  };
  const take = (line: string): void => {
    if (broken !== undefined || line.trim() === "") return;
    if (line.length > ANSWER_CHARS_MAX) return stop(TOO_LONG);
    const answer = readAnswer(line);
    if (answer === undefined) return stop(`this is no answer: ${line.slice(0, 200)}`);
    if (!asked.has(answer.id)) return stop(`it answers what was not asked: ${answer.id}`);
    if (answers.has(answer.id)) return stop(`it answers twice: ${answer.id}`);
    answers.set(answer.id, answer);
  };

  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (pending + chunk).split("\n");
    pending = lines.pop() ?? "";
    lines.forEach(take);
    if (pending.length > ANSWER_CHARS_MAX) stop(TOO_LONG);
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    lastWords = (lastWords + chunk).slice(-LAST_WORDS_CHARS_MAX);
  });
  // Whoever ends before it has read everything closes the pipe: its exit tells more than our error.
  child.stdin.on("error", () => {});
  child.stdin.end(questions.map((question) => `${JSON.stringify(question)}\n`).join(""));

  let killer: NodeJS.Timeout | undefined;
  const deadline = setTimeout(() => {
    broken ??= `it did not end within ${options.timeoutMs / 1000} s`;
    child.kill("SIGTERM");
    killer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  }, options.timeoutMs);
  const ended = await new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(`it cannot be started: ${error.message}`));
    child.once("exit", () => {
      // A grandchild may hold the pipes open: what was written is read, and no longer waited for.
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, GRACE_MS).unref();
    });
    child.once("close", (code, signal) => {
      resolve(code === 0 ? undefined : `it ended with ${signal ?? `exit code ${code}`}`);
    });
  });
  clearTimeout(deadline);
  clearTimeout(killer);
  take(pending);
  return { answers, broken: broken ?? ended, lastWords };
}
