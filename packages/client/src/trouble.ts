/** Requests that failed in a row, and how long to leave the line alone after them. */
import { RETRY_DOUBLINGS_MAX, RETRY_MS } from "./pace.ts";

export class Trouble {
  failures = 0;
  /** What the last answer asked to wait: `Retry-After`. */
  advisedMs = 0;

  failed(advisedMs: number): void {
    this.failures += 1;
    this.advisedMs = advisedMs;
  }

  /** An answer that is no trouble, and asks for time. */
  advise(advisedMs: number): void {
    this.advisedMs = advisedMs;
  }

  over(): void {
    this.failures = 0;
    this.advisedMs = 0;
  }

  get isThere(): boolean {
    return this.failures > 0 || this.advisedMs > 0;
  }

  /** Never sooner than advised; advice is the same for everyone, so that something is added. */
  retryMs(random: number): number {
    const backOffMs = RETRY_MS * 2 ** Math.min(this.failures, RETRY_DOUBLINGS_MAX);
    return Math.max(this.advisedMs, backOffMs) * (1 + random / 2);
  }
}
