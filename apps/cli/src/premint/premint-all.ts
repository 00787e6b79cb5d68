/** Asks for one batch after the other, and writes down each before the next. */
import type { PremintAnswer } from "@vestibule/contracts/premint-api";
import { CliFailure, InterruptedError } from "../failure.ts";
import { AWAY_MS_MAX, AWAY_RETRY_MS } from "../limits.ts";
import { AwayError } from "../mint-api.ts";
import type { Session } from "../session.ts";
import { bar, Progress } from "../terminal/progress.ts";
import { oneLine, plural, span } from "../terminal/words.ts";
import { csvLine } from "./csv.ts";
import type { Person } from "./people.ts";
import { batchName, isAbout, newRun, type Place, placeOf, readRun, type RunState } from "./run.ts";

export interface Premint {
  readonly event: string;
  readonly people: readonly Person[];
  readonly out: string;
}

const COLUMNS = ["id", "event", "number", "visitor", "ticket"] as const;
const BAR_CELLS = 20;

/**
 * @returns how many places an earlier start had written.
 * @throws CliFailure when the files are of something else, the mint refuses, or it was interrupted: then
 * the same command goes on.
 */
export async function premintAll(
  session: Session,
  job: Premint,
): Promise<{ readonly before: number }> {
  const { secretFiles } = session.platform;
  const { event, people, out } = job;
  const run = await openRun(session, job);
  const head = out.endsWith(".csv") ? `${csvLine(COLUMNS)}\n` : "";
  secretFiles.create(out, head);
  const { lines, bytes } = secretFiles.measure(out) ?? { lines: 0, bytes: 0 };
  const before = Math.max(0, lines - (head === "" ? 0 : 1));
  if (before > people.length) throw new CliFailure(`${oneLine(out)} has more lines than the list.`);
  // A head that was torn is written anew.
  let length = lines === 0 ? secretFiles.append(out, { at: 0, text: head }) : bytes;
  let written = before;
  const progress = new Progress(session.platform.err, session.platform.clock);
  const startedAt = session.platform.clock.now();
  try {
    const first = Math.floor(before / run.batchSize);
    for await (const { places, answer } of batches(session, { run, people, first, progress })) {
      const skipped = written % run.batchSize;
      const text = places
        .map((place, index) => lineOf({ event, out, place, answer, index }))
        .slice(skipped)
        .join("");
      length = secretFiles.append(out, { at: length, text });
      written += places.length - skipped;
      show(session, { progress, written, before, total: people.length, startedAt });
    }
  } catch (error) {
    progress.clear();
    if (error instanceof InterruptedError)
      throw new InterruptedError(
        `Interrupted: ${written.toLocaleString("en")} of ${plural(people.length, "place")} written. The same command goes on.`,
        { places: written },
      );
    throw error;
  }
  progress.clear();
  secretFiles.remove(runPath(out));
  return { before };
}

function runPath(out: string): string {
  return `${out}.run`;
}

/** The run that was interrupted, or a new one, on disk before anything is asked. */
async function openRun(session: Session, { event, people, out }: Premint): Promise<RunState> {
  const { secretFiles, randomness } = session.platform;
  const view = await session.api.event(event);
  if (view === undefined) throw new CliFailure(`There is no event ${event} at ${session.api.url}.`);
  if (view.state === "ended") throw new CliFailure(`${event} has ended.`);
  const about = { event, createdAt: view.createdAt, people };
  const known = secretFiles.read(runPath(out));
  const isBegun = secretFiles.measure(out) !== undefined;
  const run = known === undefined ? undefined : readRun(known);
  if (run !== undefined && isAbout(run, about)) return run;
  // What cannot be read and has no output beside it was torn before anything was asked: it is written anew.
  if (run !== undefined || (known !== undefined && isBegun)) {
    throw new CliFailure(
      `${oneLine(runPath(out))} is of an unfinished run for another event or another list, or at another mint. Finish that one, or name another --out.`,
    );
  }
  if (isBegun)
    throw new CliFailure(
      `${oneLine(out)} is there already, and not of an unfinished run. Name another --out: nobody's place is written over.`,
    );
  const begun = newRun(about, randomness);
  const text = `${JSON.stringify(begun)}\n`;
  if (!secretFiles.create(runPath(out), text)) secretFiles.append(runPath(out), { at: 0, text });
  return begun;
}

interface Batches {
  readonly run: RunState;
  readonly people: readonly Person[];
  /** The first that is not whole in the output. */
  readonly first: number;
  readonly progress: Progress;
}

interface Batch {
  readonly places: readonly Place[];
  readonly answer: PremintAnswer;
}

/**
 * In their order, the next one asked for while this one is written. Never two at once: numbers are in the order in
 * which they are given, and of two requests the later one may arrive first.
 */
async function* batches(
  session: Session,
  { run, people, first, progress }: Batches,
): AsyncIterable<Batch> {
  const count = Math.ceil(people.length / run.batchSize);
  const ask = async (index: number): Promise<Batch> => {
    const from = index * run.batchSize;
    const places = people.slice(from, from + run.batchSize).map((person) => placeOf(run, person));
    return { places, answer: await askUntilAnswered(session, { run, index, places, progress }) };
  };
  let asked = first < count ? ask(first) : undefined;
  for (let index = first; asked !== undefined; index += 1) {
    const batch = await asked;
    asked = index + 1 < count ? ask(index + 1) : undefined;
    // Whoever waits for it hears of its failure; a batch that nobody waits for any more fails alone.
    asked?.catch(() => {});
    yield batch;
  }
}

async function askUntilAnswered(
  session: Session,
  asked: { run: RunState; index: number; places: readonly Place[]; progress: Progress },
): Promise<PremintAnswer> {
  const { api, platform } = session;
  const { run, index, places, progress } = asked;
  const subs = places.map(({ sub }) => sub);
  const startedAt = platform.clock.now();
  for (;;) {
    session.assertGoesOn();
    try {
      return await api.premint(run.event, batchName(run, index), subs);
    } catch (error) {
      if (!(error instanceof AwayError)) throw error;
      if (platform.clock.now() - startedAt > AWAY_MS_MAX)
        throw new CliFailure(`${error.message}. The same command goes on where this one was.`);
      progress.show("no mint answers; waiting goes on");
    }
    await session.sleep(AWAY_RETRY_MS);
  }
}

function lineOf(of: {
  event: string;
  out: string;
  place: Place;
  answer: PremintAnswer;
  index: number;
}): string {
  const { event, out, place, answer, index } = of;
  const { person, visitor } = place;
  const number = answer.first + index;
  const ticket = answer.tickets[index] ?? "";
  if (out.endsWith(".csv"))
    return `${csvLine([person.id, event, number, visitor ?? "", ticket])}\n`;
  const secret = visitor === undefined ? {} : { visitor };
  return `${JSON.stringify({ id: person.id, event, number, ...secret, ticket })}\n`;
}

function show(
  session: Session,
  at: { progress: Progress; written: number; before: number; total: number; startedAt: number },
): void {
  const { clock, err } = session.platform;
  const { progress, written, before, total, startedAt } = at;
  const ms = Math.max(1, clock.now() - startedAt);
  const perSecond = ((written - before) * 1_000) / ms;
  const left = perSecond === 0 ? "" : `, ${span(((total - written) / perSecond) * 1_000)} left`;
  const share = bar(written / total, { cells: BAR_CELLS, unicode: err.unicode });
  progress.show(
    `${share} ${written.toLocaleString("en")} of ${plural(total, "place")}, ${Math.round(perSecond).toLocaleString("en")} a second${left}`,
  );
}
