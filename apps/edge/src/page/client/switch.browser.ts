import { element } from "./element.browser.ts";

/**
 * The switch of languages acts when one is chosen. But whoever steps through the list with keys chooses with every step, and would
 * be carried off by the first (WCAG 3.2.2): for them there is the button that all have who have no script.
 */
export function listenToSwitch(): void {
  const form = element("speak") as HTMLFormElement;
  let byKeys = false;
  form.addEventListener("keydown", ({ key }) => {
    byKeys = key !== "Enter";
  });
  form.addEventListener("change", () => {
    if (byKeys) form.querySelector("button")?.classList.remove("nojs");
    else form.submit();
  });
}
