/** Looks at the drip of one source again and again, as pages do, and keeps the latest. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { DripView } from "@vestibule/contracts/statements";

import { claimsOf } from "../../e2e/support/token-parts.ts";
import type { Trace } from "../trace.ts";

const LOOK_EVERY_MS = 200;
const LOOK_MS_MAX = 1_500;

export interface WatcherOptions {
  /** "mint 1" */
  readonly source: string;
  /** Where its drip is now; `undefined` while it is down. */
  readonly url: () => string | undefined;
  readonly trace: Trace;
  readonly onAnswer?: (at: number) => void;
}

export class Watcher {
  readonly source: string;
  /** The newest statement that was seen here. */
  view: DripView | undefined;
  /** When it last answered. */
  answeredAt = -Infinity;
  readonly #options: WatcherOptions;
  #running: Promise<void> | undefined;
  #isOver = false;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.source = options.source;
  }

  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.#look();
      await sleep(LOOK_EVERY_MS);
    }
  }

  async #look(): Promise<void> {
    const { source, trace, url } = this.#options;
    const address = url();
    if (address === undefined) return;
    const askedAt = Date.now();
    const text = await textOf(address);
    if (text === undefined) return;
    const at = Date.now();
    // A mint signs it, a location shows what it says.
    const view = (text.startsWith("{") ? JSON.parse(text) : claimsOf(text)) as unknown as DripView;
    this.answeredAt = at;
    this.#options.onAnswer?.(at);
    if (view.seq >= (this.view?.seq ?? 0)) this.view = view;
    const { seq, at: signedAt, serving, state, segments, issued, committed } = view;
    trace.listed(segments);
    const listed = segments.map(({ base, count, from, until }) => [base, count, from, until]);
    const said = JSON.stringify([serving, state, listed, issued, committed, signedAt]);
    const digest = createHash("sha256").update(said).digest("base64url");
    const statement = { seq, signedAt, serving, committed, state, digest };
    trace.statements.push({ source, askedAt, at, ...statement });
  }
}

async function textOf(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(LOOK_MS_MAX) });
    const text = await answer.text();
    return answer.status === 200 ? text : undefined;
  } catch {
    return undefined;
  }
}
