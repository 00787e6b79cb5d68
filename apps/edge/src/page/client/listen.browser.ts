import { element } from "./element.browser.ts";

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
    element(id).addEventListener("submit", (event) => {
      event.preventDefault();
      // The button that was pressed may be gone, and this one there: whoever has left can join again.
      void to[id]().then(() => element("join").querySelector("button")?.focus());
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
