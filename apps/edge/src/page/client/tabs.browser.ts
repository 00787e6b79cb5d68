/** What one tab does, told to the others of this browser: they share place and admission. */

/** @see `Shell.tell` */
export function tellTabs(event: string, what: string): void {
  try {
    localStorage.setItem(`vst-tabs-${event}`, `${what} ${Date.now()}`);
  } catch {
    // a browser that keeps nothing
  }
}

/** @param other there is a place of this number now; `NaN`: none */
export function listenToTabs(
  event: string,
  { stay, other }: { stay: (opensAt: number) => void; other: (number: number) => void },
): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key !== `vst-tabs-${event}` || newValue === null) return;
    const [what, value] = newValue.split(" ");
    (what === "in" ? stay : other)(Number(value));
  });
}
