/** By their ids; each is a method of the listener. */
export const FORMS = ["join", "confirm", "enter", "leave"] as const;

/** What the page hears of its reader and its device. */
export interface Listener {
  /** Presses of the buttons, by the names of their forms. */
  join(): Promise<void>;
  confirm(): Promise<void>;
  enter(): Promise<void>;
  leave(): Promise<void>;
  /** Seen again, back from history, or connected again. */
  wake(): void;
  offline(): void;
}

export function listen(to: Listener): void {
  for (const id of FORMS) {
    document.getElementById(id)?.addEventListener("submit", (event) => {
      event.preventDefault();
      void to[id]();
    });
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) to.wake();
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) to.wake();
  });
  addEventListener("online", () => to.wake());
  addEventListener("offline", () => to.offline());
}
