/** One report to the mint that leads, of this release or the one before. */
import type { MintOrder } from "@vestibule/feed/mint-order";
import type { Clock } from "@vestibule/kernel/clock";
import type { Log } from "@vestibule/service/log";
import type { Secret } from "@vestibule/service/secret";
import { SUPPLY_DEADLINE_MS } from "./limits.ts";
import type { PendingReport } from "./supply.ts";

/** One PUT. The answer's status; `undefined` when there was none within the deadline. Never rejects. */
export type PutReport = (request: {
  readonly url: string;
  readonly token: string;
  readonly body: string;
  readonly deadlineMs: number;
}) => Promise<number | undefined>;

/** `sold-out`: by a mint that knows no last call. */
export type Hearing = "all" | "sold-out" | "nothing";

export interface TellOptions {
  readonly mints: MintOrder;
  readonly token: Secret;
  readonly put: PutReport;
  readonly clock: Clock;
  readonly log: Log;
}

/** The mint heard it. Anything else, also another success, is not its answer. */
const HEARD = 204;
/** A mint from before there was a last call refuses a report that has one. */
const NOT_UNDERSTOOD = 400;

export async function tellMint(options: TellOptions, report: PendingReport): Promise<Hearing> {
  const { mints, token, put, clock, log } = options;
  const { event, soldOut, lastCall, seq, soldOutHeard } = report;
  const ask = (url: string, body: object): Promise<number | undefined> =>
    put({
      url,
      token: token.reveal(),
      body: JSON.stringify(body),
      deadlineMs: SUPPLY_DEADLINE_MS,
    });
  for (const base of mints.urls(clock.now())) {
    const url = `${base}/v1/supply/events/${event}`;
    let status = await ask(url, { soldOut, lastCall, seq });
    const isOlder = status === NOT_UNDERSTOOD;
    if (isOlder && soldOutHeard) return "sold-out";
    if (isOlder) status = await ask(url, { soldOut, seq });
    if (status === HEARD) {
      mints.worked(base);
      return isOlder ? "sold-out" : "all";
    }
    if (status === undefined || status >= 500) mints.failed(base, clock.now());
    log.info("supply-report-not-heard", { event, seq, url, status: status ?? null });
  }
  return "nothing";
}
