const RETRY_MS_MIN = 25;
const RETRY_MS_MAX = 500;
const DOUBLINGS_MAX = 10;

/**
 * How long to wait before connecting again, milliseconds: 25 at first, doubled each time, never above 500. Up to
 * half of it is left out at random, so that instances that lost a server together do not come back together.
 *
 * @param attempts how many have failed since the last connection that was good.
 * @param random 0 <= random < 1
 */
export function retryDelayMs(attempts: number, random: number): number {
  const delayMs = RETRY_MS_MIN * 2 ** Math.min(attempts, DOUBLINGS_MAX);
  return Math.min(RETRY_MS_MAX, delayMs) * (1 - random / 2);
}
