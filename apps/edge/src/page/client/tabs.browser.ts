/** What one tab does, told to the others of this browser: they share place and admission. */

/** @see `Shell.tell` */
export function tellTabs(event: string, what: string): void {
  try {
    localStorage.setItem(`vst-tabs-${event}`, `${what} ${Date.now()}`);
  } catch {
    // a browser that keeps nothing
  }
}

/** @param other another place, or none: the server knows */
export function listenToTabs(
  event: string,
  { stay, other }: { stay: (opensAt: number) => void; other: () => void },
): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key !== `vst-tabs-${event}` || newValue === null) return;
    const [what, opensAt] = newValue.split(" ");
    if (what === "in") stay(Number(opensAt));
    else other();
  });
}
