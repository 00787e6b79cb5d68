/** Asks for one batch after the other, and writes down each before the next. */
import type { PremintAnswer } from "@vestibule/contracts/premint-api";
import { CliFailure, InterruptedError } from "../failure.ts";
import type { Session } from "../session.ts";
import { bar, Progress } from "../terminal/progress.ts";
import { figure, oneLine, plural, span } from "../terminal/words.ts";
import { untilAnswered } from "../until-answered.ts";
import type { Person } from "./people.ts";
import { headOf, rowLine } from "./rows.ts";
import { batchName, isAbout, newRun, type Place, placeOf, readRun, type RunState } from "./run.ts";

export interface Premint {
  readonly event: string;
  readonly people: readonly Person[];
  readonly out: string;
}

const COLUMNS = ["id", "event", "number", "visitor", "ticket", "batch"] as const;
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
  const head = headOf(out, COLUMNS);
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
    const asked = { run, people, first, progress };
    for await (const { batch, places, answer } of batches(session, asked)) {
      const skipped = written % run.batchSize;
      const text = places
        .map((place, index) => lineOf({ event, out, batch, place, answer, index }))
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
        `Interrupted: ${figure(written)} of ${plural(people.length, "place")} written. The same command goes on.`,
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
  readonly batch: string;
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
    const [batch, subs] = [batchName(run, index), places.map(({ sub }) => sub)];
    const answer = await untilAnswered(session, progress, () =>
      session.api.premint(run.event, batch, subs),
    );
    return { batch, places, answer };
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

function lineOf(of: {
  event: string;
  out: string;
  batch: string;
  place: Place;
  answer: PremintAnswer;
  index: number;
}): string {
  const { event, out, batch, place, answer, index } = of;
  const { person, visitor } = place;
  const row = {
    ...{ id: person.id, event, number: answer.first + index },
    ...(visitor === undefined ? {} : { visitor }),
    ...{ ticket: answer.tickets[index] ?? "", batch },
  };
  return rowLine(out, COLUMNS, row);
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
    `${share} ${figure(written)} of ${plural(total, "place")}, ${figure(Math.round(perSecond))} a second${left}`,
  );
}
