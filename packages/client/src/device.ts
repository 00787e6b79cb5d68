/** What a waiting place asks of the machine that it runs on: a browser's page, an app, or a test in virtual time. */
export interface Device {
  /** This device's clock, epoch milliseconds. It may be wrong, and may be set. */
  now(): number;
  /** Milliseconds that nobody sets; they may stand still while the device sleeps. */
  ticks(): number;
  /** In [0, 1). */
  random(): number;
  /** Once, after so long, or later: a hidden page's timers are slow. */
  startTimer(work: () => void, delayMs: number): number;
  stopTimer(timer: number): void;
  /** Nobody looks: less is asked, and nothing is painted. */
  isHidden(): boolean;
  isOnline(): boolean;
}
