/** Moving in is loading the page again with the admission in the cookie. */

/** More often than this within a minute: the browser does not keep the admission. */
const ENTERS_MAX = 3;
const WINDOW_MS = 60_000;

/**
 * False when it has been tried too often: then the page stops, and says why.
 *
 * @param back of a page that answers a form: loaded instead, for a form is never sent again
 */
export function moveIn(event: string, back: string | undefined): boolean {
  const key = `vst-enter-${event}`;
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "[]") as number[];
    const recent = kept.filter((at) => Math.abs(Date.now() - at) < WINDOW_MS);
    if (recent.length >= ENTERS_MAX) return false;
    sessionStorage.setItem(key, JSON.stringify([...recent, Date.now()]));
  } catch {
    // Without storage there is no count, and the browser's own limits hold.
  }
  loadAgain(back);
  return true;
}

/** @param back see above */
export function loadAgain(back: string | undefined): void {
  if (back === undefined) location.reload();
  else location.replace(back);
}
