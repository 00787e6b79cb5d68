/** One report to the mint that leads, of this release or an older one. */
import type { MintOrder } from "@vestibule/feed/mint-order";
import type { Clock } from "@vestibule/kernel/clock";
import type { Log } from "@vestibule/service/log";
import type { Secret } from "@vestibule/service/secret";
import { SUPPLY_DEADLINE_MS } from "./limits.ts";
import type { Heard, PendingReport } from "./supply.ts";

/** One PUT. The answer's status; `undefined` when there was none within the deadline. Never rejects. */
export type PutReport = (request: {
  readonly url: string;
  readonly token: string;
  readonly body: string;
  readonly deadlineMs: number;
}) => Promise<number | undefined>;

export type Hearing = Heard | "nothing";

export interface TellOptions {
  readonly mints: MintOrder;
  readonly token: Secret;
  readonly put: PutReport;
  readonly clock: Clock;
  readonly log: Log;
}

/** The mint heard it. Anything else, also another success, is not its answer. */
const HEARD = 204;
/** A mint refuses a report with a member from after its time: it is told the rest. */
const NOT_UNDERSTOOD = 400;

export async function tellMint(options: TellOptions, report: PendingReport): Promise<Hearing> {
  const { mints, token, put, clock, log } = options;
  const { event, seq } = report;
  const ask = (url: string, body: object): Promise<number | undefined> =>
    put({
      url,
      token: token.reveal(),
      body: JSON.stringify(body),
      deadlineMs: SUPPLY_DEADLINE_MS,
    });
  for (const base of mints.urls(clock.now())) {
    const url = `${base}/v1/supply/events/${event}`;
    let status: number | undefined;
    for (const { heard, body, isKnown } of wordingsOf(report)) {
      if (isKnown) return heard;
      status = await ask(url, body);
      if (status === HEARD) {
        mints.worked(base);
        return heard;
      }
      if (status !== NOT_UNDERSTOOD) break;
    }
    if (status === undefined || status >= 500) mints.failed(base, clock.now());
    log.info("supply-report-not-heard", { event, seq, url, status: status ?? null });
  }
  return "nothing";
}

interface Wording {
  readonly heard: Heard;
  readonly body: object;
  /** A mint that takes no more than this has taken it already. */
  readonly isKnown: boolean;
}

/** The newest first. */
function wordingsOf(report: PendingReport): readonly Wording[] {
  const { soldOut, lastCall, left, seq, soldOutHeard, lastCallHeard } = report;
  return [
    { heard: "all", body: { soldOut, lastCall, left, seq }, isKnown: false },
    ...(left === undefined
      ? []
      : [
          { heard: "last-call" as const, body: { soldOut, lastCall, seq }, isKnown: lastCallHeard },
        ]),
    { heard: "sold-out", body: { soldOut, seq }, isKnown: soldOutHeard },
  ];
}
