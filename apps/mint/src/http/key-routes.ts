/** The keys, for whoever is on call. Only a leader answers; every step leaves a line in the audit log. */
import { type KeyStep, keyStepSchema, stageKeySchema } from "@vestibule/contracts/keys-api";
import type { Clock } from "@vestibule/kernel/clock";
import { noStore, type ServiceApp, type ServiceContext } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import * as z from "zod/mini";
import type { StepReason } from "../keys/key-draft.ts";
import type { KeyCommand, KeyKeeper, KeyOutcome, Leading } from "../keys/key-keeper.ts";
import { keyFacts } from "../keys/key-policy.ts";
import { keysView, keyView } from "../keys/key-view.ts";
import type { Mint } from "../mint.ts";
import { KeysMovedError, LeaseLostError } from "../store/store.ts";
import { unavailable } from "../unavailable.ts";
import { ACTOR } from "./actor.ts";
import { etagOf, expectedVersion } from "./version-tag.ts";

export interface KeyRoutes {
  readonly mint: Mint;
  readonly keeper: KeyKeeper;
  readonly clock: Clock;
}

const KEYS = "/v1/admin/keys";
/** The bearer token has been looked at before: these are below `/v1/admin/`. */
export function addKeyRoutes(app: ServiceApp, { mint, keeper, clock }: KeyRoutes): void {
  const leading = (): Leading => {
    const term = mint.leading();
    const records = term.events.map(({ line }) => line.record);
    return { lead: term.lead, facts: keyFacts(records, clock.now()) };
  };

  const answer = (
    context: ServiceContext,
    { facts }: Leading,
    { outcome, status }: { outcome: KeyOutcome; status: number },
  ): Response => {
    const { key, changed } = outcome;
    const { keys } = keeper.stored;
    const policy = keeper.policies(facts)[key.use];
    const view = keyView(key, { now: clock.now(), policy, keys });
    return noStore(context, status, { changed, seq: keeper.stored.seq, key: view });
  };

  const perform = async (
    now: Leading,
    command: KeyCommand,
    by: StepReason,
  ): Promise<KeyOutcome> => {
    try {
      return await keeper.command(now, command, by);
    } catch (error) {
      const moved = error instanceof LeaseLostError || error instanceof KeysMovedError;
      throw moved ? unavailable("another mint leads by now", error) : error;
    }
  };

  app.get(KEYS, (context) => {
    const { facts } = leading();
    const policies = keeper.policies(facts);
    context.header("ETag", etagOf(keeper.stored.seq));
    return noStore(context, 200, keysView(keeper.stored, { now: clock.now(), policies, facts }));
  });

  app.post(KEYS, async (context) => {
    const { use, reason } = await readJson(context.req.raw, stageKeySchema);
    const now = leading();
    const command = { do: "stage", use, seq: expectedVersion(context) } as const;
    const outcome = await perform(now, command, { actor: ACTOR, reason });
    return answer(context, now, { outcome, status: 201 });
  });

  const steps: Readonly<Record<string, (kid: string, force: boolean) => KeyCommand>> = {
    activate: (kid, force) => ({ do: "promote", kid, force }),
    retire: (kid, force) => ({ do: "retire", kid, force }),
    revoke: (kid) => ({ do: "revoke", kid }),
  };
  for (const [name, command] of Object.entries(steps)) {
    app.post(`${KEYS}/:kid/${name}`, async (context) => {
      const { force, reason } = await readStep(context);
      const now = leading();
      const asked = command(context.req.param("kid") ?? "", force ?? false);
      const outcome = await perform(now, asked, { actor: ACTOR, reason, force });
      return answer(context, now, { outcome, status: 200 });
    });
  }
}

/** A body that is not there means no force and no reason. */
async function readStep(context: ServiceContext): Promise<KeyStep> {
  if (context.req.header("Content-Type") === undefined) return z.parse(keyStepSchema, {});
  return readJson(context.req.raw, keyStepSchema);
}
