/** Moving in is loading the page again with the admission in the cookie. */

/** More often than this within a minute: the browser does not keep the admission. */
const ENTERS_MAX = 3;
const WINDOW_MS = 60_000;

/** False when it has been tried too often: then the page stops, and says why. */
export function moveIn(event: string, homePath: string): boolean {
  const key = `vst-enter-${event}`;
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "[]") as number[];
    const recent = kept.filter((at) => Math.abs(Date.now() - at) < WINDOW_MS);
    if (recent.length >= ENTERS_MAX) return false;
    sessionStorage.setItem(key, JSON.stringify([...recent, Date.now()]));
  } catch {
    // Without storage there is no count, and the browser's own limits hold.
  }
  // The page may be the answer to a form that was sent without JavaScript: never send that again.
  if (location.pathname.startsWith("/_vestibule/")) location.replace(homePath);
  else location.reload();
  return true;
}
