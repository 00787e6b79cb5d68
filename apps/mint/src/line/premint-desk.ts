/**
 * Places that are given beforehand, a batch at a time. A batch's numbers come from the counter that joins
 * use, and are on record under the batch's name before any of them is signed: asked again, by whomever
 * and of whichever leader, it has the same ones.
 */
import { createHash } from "node:crypto";
import { problem } from "@vestibule/service/problems";
import { PREMINTS_IN_DOUBT_MAX } from "../limits.ts";
import type { Premint } from "../store/store.ts";
import { unavailable } from "../unavailable.ts";
import type { EventLine } from "./event-line.ts";
import { isEnded, isSoldOut, soldOut } from "./event-state.ts";

export interface PremintBatch {
  readonly batch: string;
  readonly subs: readonly string[];
  readonly actor: string;
}

export class PremintDesk {
  readonly #line: EventLine;
  /** Taken for a batch whose record is in doubt: the next try has them, so that none is lost. */
  readonly #taken = new Map<string, { readonly first: number; readonly digest: string }>();

  constructor(line: EventLine) {
    this.#line = line;
  }

  /**
   * @throws AppError `event-ended`, `sold-out`, `conflict` for a name that has other people,
   * `unavailable`: asked again it has the same numbers, if it has any.
   */
  grant({ batch, subs, actor }: PremintBatch): Promise<Premint> {
    const digest = digestOf(subs);
    const line = this.#line;
    return line.write(async (now) => {
      if (isEnded(line.record, now)) throw problem("event-ended");
      const known = await line.store.findPremint(line.event, batch);
      if (known !== undefined) {
        // The answer of its record was lost: nothing is in doubt any more.
        this.#taken.delete(batch);
        return sameOf(known, digest);
      }
      if (isSoldOut(line.record.facts)) throw soldOut();
      const count = subs.length;
      const taken = this.#taken.get(batch);
      if (taken !== undefined && taken.digest !== digest) throw otherPeople();
      if (taken === undefined && this.#taken.size >= PREMINTS_IN_DOUBT_MAX)
        throw unavailable("too many batches are in doubt");
      const first = taken?.first ?? (await line.sequencer.takeRun(count));
      this.#taken.set(batch, { first, digest });
      const detail = { batch, first, count };
      const premint = await line.store.recordPremint(line.lead, {
        event: line.event,
        premint: { batch, first, count, digest, at: now },
        audit: { actor, action: "premint", detail },
      });
      this.#taken.delete(batch);
      return sameOf(premint, digest);
    });
  }

  /** @throws AppError `not-found` when there is no such batch, `conflict` for a name that has other people. */
  async find({ batch, subs }: Pick<PremintBatch, "batch" | "subs">): Promise<Premint> {
    const known = await this.#line.store.findPremint(this.#line.event, batch);
    if (known === undefined) throw problem("not-found", { detail: "There is no such batch" });
    return sameOf(known, digestOf(subs));
  }
}

function digestOf(subs: readonly string[]): string {
  return createHash("sha256").update(subs.join()).digest("base64url");
}

function sameOf(known: Premint, digest: string): Premint {
  if (known.digest !== digest) throw otherPeople();
  return known;
}

function otherPeople(): Error {
  return problem("conflict", {
    detail: "This batch was made for other people, or in another order",
  });
}
