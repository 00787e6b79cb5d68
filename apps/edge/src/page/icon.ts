/** The page's icon, as an address: none, and at the turn a spot that is seen among many tabs. */
import type { PageState } from "@vestibule/client/view";

export function iconOf(state: PageState): string {
  return state === "turn" || state === "confirm"
    ? "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' style='background:red'/>"
    : "data:,";
}
