/** What clients saw, and when: all that the checks know of a run while it runs. Moments are epoch milliseconds. */
import type { EventState } from "@vestibule/contracts/statements";

/** When something was asked, and when its answer was there. What lies between has no order with it. */
interface Asked {
  readonly askedAt: number;
  readonly at: number;
}

/** A 200 or 201 of a join. */
export interface Joined extends Asked {
  readonly visitor: string;
  readonly number: number;
  /** What the ticket itself says: `n` and `sub`. */
  readonly ticketNumber: number;
  readonly holder: string;
  /** The number of the ticket that was shown with it. */
  readonly shown: number | undefined;
}

/** A 201 of a claim. */
export interface Claimed extends Asked {
  readonly visitor: string;
  readonly number: number;
  readonly jti: string;
  /** The key that signed the admission. */
  readonly kid: string;
  readonly opensAt: number;
  readonly closesAt: number;
}

/** A statement as one source showed it. */
export interface Statement extends Asked {
  /** "mint 1", "edge b" */
  readonly source: string;
  readonly seq: number;
  /** The mint's clock when it was signed. */
  readonly signedAt: number;
  readonly serving: number;
  /** Slots are committed up to this number. */
  readonly committed: number;
  readonly state: EventState;
  /** Of everything that it says and that must not depend on who shows it. */
  readonly digest: string;
}

export interface Segment {
  readonly base: number;
  readonly count: number;
  readonly from: number;
  readonly until: number;
}

/** An admission shown at an edge. `forged`: changed in one place, or shown by another visitor. */
export interface Entered extends Asked {
  readonly edge: string;
  readonly number: number;
  readonly opensAt: number;
  readonly closesAt: number;
  readonly forged: boolean;
  readonly status: number;
}

/** An answer to a purchase. */
export interface Bought extends Asked {
  readonly number: number;
  readonly jti: string;
  readonly key: string;
  readonly sku: string;
  readonly quantity: number;
  readonly status: number;
  /** The problem's code, or the status. */
  readonly code: string;
  readonly orderId: string | undefined;
}

/** Something that was done to the parts named, "mint 1" or "database": begun, done, and taken back. */
export interface Suffered {
  readonly parts: readonly string[];
  readonly from: number;
  readonly since: number;
  readonly until: number;
}

/** How a fan ended. `left`: never came back for their turn, on purpose. */
export type Ending = "bought" | "left" | "told-why" | "still-waits" | "could-not-buy";

export class Trace {
  readonly joined: Joined[] = [];
  readonly claimed: Claimed[] = [];
  readonly statements: Statement[] = [];
  readonly entered: Entered[] = [];
  readonly bought: Bought[] = [];
  readonly suffered: Suffered[] = [];
  readonly endings: { readonly fan: string; readonly ending: Ending; readonly why: string }[] = [];
  /** Answers by what was asked and what came: "claim too-early". */
  readonly answers = new Map<string, number>();
  /** Processes that ended by themselves, and the like. */
  readonly troubles: string[] = [];
  readonly #segments = new Map<string, Segment>();

  count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
  }

  /** Each that any statement listed, once. */
  get segments(): readonly Segment[] {
    return [...this.#segments.values()];
  }

  listed(segments: readonly Segment[]): void {
    for (const { base, count, from, until } of segments) {
      this.#segments.set(`${base} ${count} ${from} ${until}`, { base, count, from, until });
    }
  }
}

/** What the databases say when all is over. */
export interface Books {
  readonly orders: readonly {
    readonly orderId: string;
    readonly jti: string;
    readonly number: number;
    readonly sku: string;
    readonly quantity: number;
  }[];
  readonly spends: readonly { readonly jti: string; readonly number: number }[];
  readonly stock: readonly {
    readonly sku: string;
    readonly total: number;
    readonly sold: number;
  }[];
  readonly segments: readonly Segment[];
  /** Numbers that were claimed. */
  readonly claims: readonly number[];
  /** Takeovers and starts so far. */
  readonly epoch: number;
}
