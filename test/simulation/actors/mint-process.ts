/** One process of the mint: the parts of apps/mint/src/service.ts, wired as there, without HTTP. */
import type {
  ClaimAnswer,
  ClaimRequest,
  JoinAnswer,
  JoinRequest,
} from "@vestibule/contracts/line-api";
import { AppError } from "@vestibule/kernel/app-error";
import type { Log } from "@vestibule/service/log";
import { signingDesk } from "@vestibule/mint/src/keys/signing-desk.ts";
import { Leadership } from "@vestibule/mint/src/lead/leadership.ts";
import { LineTerm } from "@vestibule/mint/src/lead/line-term.ts";
import type { EventLine } from "@vestibule/mint/src/line/event-line.ts";
import { RecentJoins } from "@vestibule/mint/src/line/recent-joins.ts";
import { Mint } from "@vestibule/mint/src/mint.ts";
import type { MintStore } from "@vestibule/mint/src/store/store.ts";
import type { Tokens } from "@vestibule/mint/src/tokens.ts";
import type { Machine } from "../world/machine.ts";
import type { SimulatedKeys } from "../world/signatures.ts";

export const ISSUER = "https://mint.example";
export const SKEW_SECONDS = 5;

/** What `apps/mint/src/http` makes of it: a status that matters, and what a client may read of a refusal. */
export type MintAnswer<Body> =
  | { readonly ok: true; readonly body: Body }
  | {
      readonly ok: false;
      readonly code: string;
      readonly retryAfterSeconds: number | undefined;
      readonly extensions: Readonly<Record<string, unknown>>;
    };

export interface MintProcessParts {
  readonly machine: Machine;
  readonly store: MintStore;
  readonly keys: SimulatedKeys;
  /** Of the process: never used before. */
  readonly holder: string;
  readonly log: Log;
  /** Around the signing desk: delays, and whatever watches what is signed. */
  readonly watchTokens: (tokens: Tokens) => Tokens;
  /** Told of a place that was shown by its ticket, and of the place that the answer names. */
  readonly onReturn: (shown: number, answered: number) => void;
}

const RECENT_JOINS = 1_024;

export class MintProcess {
  readonly machine: Machine;
  readonly mint: Mint;
  readonly #leadership: Leadership<LineTerm>;
  readonly #keys: SimulatedKeys;
  readonly #onReturn: MintProcessParts["onReturn"];

  constructor(parts: MintProcessParts) {
    const { machine, store, keys, holder, log, watchTokens } = parts;
    this.#onReturn = parts.onReturn;
    this.machine = machine;
    this.#keys = keys;
    const { clock } = machine;
    const ring = { seq: 1, signing: keys.signing, verify: keys.verify };
    const tokens = watchTokens(
      signingDesk({ issuer: ISSUER, skewSeconds: SKEW_SECONDS, ring: () => ring }),
    );
    const leadership: Leadership<LineTerm> = new Leadership({
      ...{ store, timers: machine, log, holder },
      begin: (lead, onLost) =>
        LineTerm.begin({
          ...{ lead, store, clock, timers: machine, issuer: ISSUER, signer: tokens, log, onLost },
          isConfirmed: () => leadership.isConfirmed,
        }),
    });
    this.#leadership = leadership;
    this.mint = new Mint({
      ...{ clock, tokens, term: () => leadership.term },
      recent: new RecentJoins({
        entriesMax: RECENT_JOINS,
        keepMs: 60_000,
        secret: new Uint8Array(4),
      }),
      credits: () => Promise.resolve(undefined),
    });
  }

  get isLeading(): boolean {
    return this.#leadership.term !== undefined;
  }

  get term(): LineTerm | undefined {
    return this.#leadership.term;
  }

  start(): void {
    this.#leadership.start();
  }

  /** SIGTERM: it gives back what it did not use. */
  async stop(): Promise<void> {
    await this.#leadership.stop().catch(() => {});
  }

  keys(): Promise<MintAnswer<string>> {
    return Promise.resolve({ ok: true, body: this.#keys.jwks });
  }

  manifest(): Promise<MintAnswer<string>> {
    return answered(() => this.mint.leading().manifest());
  }

  drip(event: string): Promise<MintAnswer<string>> {
    return answered(() => this.mint.leading().drip(this.mint.entry(event)));
  }

  join(event: string, request: JoinRequest): Promise<MintAnswer<JoinAnswer>> {
    return answered(async () => {
      const { answer } = await this.mint.join(event, request);
      if (request.ticket !== undefined) this.#onReturn(numberOf(request.ticket), answer.number);
      return answer;
    });
  }

  claim(event: string, request: ClaimRequest): Promise<MintAnswer<ClaimAnswer>> {
    return answered(() => this.mint.claim(event, request));
  }

  /** A deed of an organizer, or a report of the purchase API. */
  manage(event: string, deed: (line: EventLine) => Promise<unknown>): Promise<MintAnswer<null>> {
    return answered(async () => {
      const entry = this.mint.entry(event);
      await deed(entry.line);
      this.term?.changed();
      this.term?.tickSoon(entry, 0);
      return null;
    });
  }
}

/** The place in a ticket, which is genuine here. */
function numberOf(ticket: string): number {
  const claims = Buffer.from(ticket.split(".")[1] ?? "", "base64url").toString();
  return (JSON.parse(claims) as { n: number }).n;
}

/** @throws whatever is no refusal: a fault of ours, which ends the sale. */
async function answered<Body>(work: () => Promise<Body>): Promise<MintAnswer<Body>> {
  try {
    return { ok: true, body: await work() };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, retryAfterSeconds, extensions } = error;
    return { ok: false, code, retryAfterSeconds, extensions };
  }
}
