/** Notifications, where a page may show some by itself: in phones' browsers only a service worker may. */

let shown: Notification | undefined;

const isPossible = (): boolean =>
  typeof Notification === "function" && !/Android/.test(navigator.userAgent);

export function mayNotify(): boolean {
  return isPossible() && Notification.permission === "granted";
}

/** Within a press only. */
export async function askToNotify(): Promise<void> {
  if (isPossible() && Notification.permission === "default") await Notification.requestPermission();
}

/** Nobody is told who looks at the page. `tag`: several tabs show one. */
export function notify(title: string, options: { body: string; tag: string; lang: string }): void {
  if (!mayNotify() || document.hasFocus()) return;
  withdraw();
  shown = new Notification(title, options);
  shown.addEventListener("click", () => window.focus());
}

export function withdraw(): void {
  shown?.close();
  shown = undefined;
}
