/**
 * Attempts with one admission at the same moment in this process: a button that was pressed again, a client that
 * repeats itself. One of them is made; the others hear what it became, without another question to PostgreSQL.
 * Nothing depends on it: attempts elsewhere, before and after are told apart by the gate and by PostgreSQL.
 */
import type { LedgerOutcome } from "./ledger-types.ts";

export interface SameAdmission {
  /**
   * @param attempt.text key, buyer and request in one text: equal texts ask for the same.
   * @throws what `make` throws, also to those who asked for the same meanwhile.
   */
  join(
    attempt: { readonly jti: string; readonly idempotencyKey: string; readonly text: string },
    make: () => Promise<LedgerOutcome>,
  ): Promise<LedgerOutcome>;
}

export function createSameAdmission(): SameAdmission {
  const underWay = new Map<
    string,
    { idempotencyKey: string; text: string; outcome: Promise<LedgerOutcome> }
  >();

  return {
    join: async ({ jti, idempotencyKey, text }, make) => {
      const first = underWay.get(jti);
      if (first !== undefined) {
        if (first.text === text) return first.outcome;
        const known = await first.outcome.then(spentBy, () => undefined);
        // Not bought: whoever asks for something else may still get that. Nobody waits twice. And what the same
        // key means for another request is the ledger's to say.
        return known === undefined || first.idempotencyKey === idempotencyKey ? make() : known;
      }
      const outcome = make().finally(() => underWay.delete(jti));
      underWay.set(jti, { idempotencyKey, text, outcome });
      return outcome;
    },
  };
}

/** What others with the same admission hear, when it is certain. */
function spentBy(outcome: LedgerOutcome): LedgerOutcome | undefined {
  if (outcome.kind === "bought") return { kind: "already-spent" };
  // A hold that is told again may be over by now, and its admission unspent.
  if (outcome.kind !== "held" || outcome.hold.state !== "held") return undefined;
  return { kind: "already-spent", holdId: outcome.hold.holdId };
}
