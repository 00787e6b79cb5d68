/** Kids for the shell's completion: asked of the mint, with a short deadline; never an error. */
import type { KeyView } from "@vestibule/contracts/keys-api";
import type { CliContext } from "../context.ts";
import { COMPLETION_DEADLINE_MS } from "../limits.ts";
import type { StepName } from "../mint-api.ts";
import { Session } from "../session.ts";

export function proposeKids(
  name: StepName,
  states: readonly KeyView["state"][],
): (this: CliContext, partial: string) => Promise<readonly string[]> {
  return async function (partial) {
    try {
      const session = new Session(this.platform, { json: false, insecureHttp: false });
      const { body } = await session.api.keys(COMPLETION_DEADLINE_MS);
      // What is over is no good proposal, even where the step is allowed.
      const offered = states.filter((state) => name !== "revoke" || state !== "retired");
      return body.keys
        .filter(({ state, kid }) => offered.includes(state) && kid.startsWith(partial))
        .map(({ kid }) => kid);
    } catch {
      return [];
    }
  };
}
