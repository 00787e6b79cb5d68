/** Follows the drip, and claims for everybody of a list as their slots are committed. */
import type { DripClaims } from "@vestibule/contracts/statements";
import { etaRange } from "@vestibule/drip/estimate";
import { CliFailure, InterruptedError } from "../failure.ts";
import {
  CLAIM_AGAIN_MS,
  CLAIM_REQUESTS_AT_ONCE,
  DRIP_EVERY_MS,
  PLAIN_EVERY_MS,
  PLAIN_EVERY_MS_MAX,
} from "../limits.ts";
import type { Session } from "../session.ts";
import { bar, Progress } from "../terminal/progress.ts";
import { figure, plural, span } from "../terminal/words.ts";
import { untilAnswered } from "../until-answered.ts";
import { AdmissionsFile } from "./admissions-file.ts";
import { type Counts, type Due, Ledger, type Outcome } from "./ledger.ts";
import type { Places } from "./places.ts";

export interface Collection {
  readonly places: Places;
  readonly out: string;
  /** The organizer says that all of them are there. */
  readonly confirmed: boolean;
  /** False: only what is committed now. */
  readonly wait: boolean;
}

export interface Collected extends Counts {
  /** Admissions that an earlier start had written. */
  readonly before: number;
  /** Slots that a hold cut meanwhile. */
  readonly cut: number;
}

interface Work extends Collection {
  readonly ledger: Ledger;
  readonly file: AdmissionsFile;
  readonly progress: Progress;
}

const BAR_CELLS = 20;
const BAR_CELLS_MIN = 5;
/** `[`, `]` and the last column. */
const BAR_EDGES = 3;

/** @throws CliFailure when the files are of something else, the mint refuses, or it was interrupted: then the same command goes on. */
export async function collectAdmissions(
  session: Session,
  collection: Collection,
): Promise<Collected> {
  const { platform } = session;
  const { places, out } = collection;
  const ledger = new Ledger(places);
  const file = new AdmissionsFile(platform.secretFiles, { path: out, places, ledger });
  const progress = new Progress(platform.err, platform.clock);
  const before = ledger.counts.admitted;
  try {
    const cut = await follow(session, { ...collection, ledger, file, progress });
    return { ...ledger.counts, before, cut };
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    const { admitted } = ledger.counts;
    throw new InterruptedError(
      `Interrupted: ${figure(admitted)} of ${plural(places.ids.length, "admission")} written. The same command goes on.`,
      { admitted },
    );
  } finally {
    progress.clear();
  }
}

/** @returns how many slots were cut on the way. */
async function follow(session: Session, work: Work): Promise<number> {
  const { api, platform } = session;
  const { places, ledger, progress } = work;
  let cut = 0;
  for (;;) {
    const lookedAt = platform.clock.now();
    const drip = await untilAnswered(session, progress, () => api.drip(places.event));
    cut += ledger.cut(drip);
    if (drip.state === "ended") {
      writeEnd(work);
      return cut;
    }
    if (drip.presence === "confirm" && !work.confirmed) throw nobodySays(places.event);
    await claimAll(session, work, { drip, due: ledger.due(drip, lookedAt) });
    if (ledger.isOver(drip) || !work.wait) return cut;
    show(session, work, drip);
    await session.sleep(Math.max(0, lookedAt + DRIP_EVERY_MS - platform.clock.now()));
  }
}

/** A bounded number of requests at a time; what was answered is written, also when another one fails. */
async function claimAll(
  session: Session,
  work: Work,
  { drip, due }: { drip: DripClaims; due: readonly Due[] },
): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    for (let each = due[next++]; each !== undefined && !hasFailed; each = due[next++]) {
      try {
        await claimBatch(session, work, each);
        show(session, work, drip);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: CLAIM_REQUESTS_AT_ONCE }, lane));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function claimBatch(
  session: Session,
  { places, confirmed, ledger, file, progress }: Work,
  { batch, whose }: Due,
): Promise<void> {
  const { api, platform } = session;
  const { event } = places;
  const { name, subs, from, first } = batch;
  const claims = await untilAnswered(session, progress, () =>
    api.claimPremint({ event, batch: name }, { subs: [...subs], whose: [...whose], confirmed }),
  );
  const rows: { index: number; number: number; outcome: Outcome }[] = [];
  for (const [at, claim] of claims.entries()) {
    const place = whose[at] ?? 0;
    const [index, number] = [from + place, first + place];
    if (!("refused" in claim))
      rows.push({ index, number, outcome: { state: "admitted", ...claim } });
    else if (claim.refused === "slot-over")
      rows.push({ index, number, outcome: { state: "missed" } });
    else if (claim.refused === "confirm-presence") throw nobodySays(event);
    else ledger.postpone(index, platform.clock.now() + CLAIM_AGAIN_MS);
  }
  if (rows.length === 0) return;
  file.write(rows);
  for (const { index, outcome } of rows) ledger.note(index, outcome);
}

function writeEnd({ ledger, file }: Work): void {
  const outcome = { state: "ended" } as const;
  const rows = ledger.waiting().map((place) => ({ ...place, outcome }));
  if (rows.length > 0) file.write(rows);
  for (const { index } of rows) ledger.note(index, outcome);
}

function nobodySays(event: string): CliFailure {
  return new CliFailure(
    `${event} asks whether fans are there: --confirmed says so of everybody on the list, and of whoever is not, the slot is lost to others.`,
  );
}

function show(session: Session, { places, ledger, progress }: Work, drip: DripClaims): void {
  const { unicode, columns } = session.platform.err;
  const { waiting } = ledger.counts;
  const [total, done] = [places.ids.length, places.ids.length - waiting];
  const { slots, last } = ledger.reach(drip);
  const words = ` ${figure(done)} of ${figure(total)}, slots for ${figure(slots)}, ${outlook(session, drip, last)}`;
  // The bar gives way to the words.
  const cells = Math.max(BAR_CELLS_MIN, Math.min(BAR_CELLS, columns - BAR_EDGES - words.length));
  const aheadMs = (drip.startsAt ?? 0) - drip.at;
  const plainEveryMs = Math.min(PLAIN_EVERY_MS_MAX, Math.max(PLAIN_EVERY_MS, aheadMs / 10));
  progress.show(`${bar(done / total, { cells, unicode })}${words}`, plainEveryMs);
}

/** @param last the highest number that waits. */
function outlook(session: Session, drip: DripClaims, last: number | undefined): string {
  const { state, startsAt, at } = drip;
  if (state === "paused") return "the sale is paused";
  if (state === "soldout") return "sold out for now";
  if (startsAt !== undefined && at < startsAt) return `opens ${session.moment(startsAt)}`;
  if (last === undefined) return "the last ones open soon";
  const range = etaRange(last, drip, at);
  return range === undefined ? "more than a day left" : `the last within ${span(range.untilMs)}`;
}
