/** A step as it changes an event's record: what is stored and what its leader remembers are the same. */
import type { Segment } from "@vestibule/drip/line-state";
import type { EpochMs } from "@vestibule/kernel/units";
import type { Demand, EventChange, EventRecord, NumberBlock, StepDone } from "./store.ts";

type OwnBlock = Pick<NumberBlock, "epoch" | "first">;

/** @param own the block of the leader that made the step. */
export function applied(
  record: EventRecord,
  { change, segments }: StepDone,
  own: OwnBlock,
): EventRecord {
  const settled = new Set(change.settled?.map(({ id }) => id));
  const cuts = new Map(change.cutSegments?.map(({ id, cutAfter }) => [id, cutAfter]));
  return {
    ...record,
    lineVersion: record.lineVersion + 1,
    version: record.version + (change.audit === undefined ? 0 : 1),
    settings: change.settings ?? record.settings,
    facts: change.facts ?? record.facts,
    progress: change.progress ?? record.progress,
    blocks: withIssued(record.blocks, change.issuedThrough, own),
    segments: [...record.segments, ...segments]
      .filter(({ id }) => !settled.has(id))
      .map((segment) => withCut(segment, cuts.get(segment.id))),
    demand: changedDemand(record.demand, change),
    cuts: change.cut === undefined ? record.cuts : [...record.cuts, change.cut],
  };
}

function withIssued(
  blocks: readonly NumberBlock[],
  issuedThrough: number | undefined,
  own: OwnBlock,
): readonly NumberBlock[] {
  if (issuedThrough === undefined) return blocks;
  const known = blocks.find(({ epoch }) => epoch === own.epoch);
  return [
    ...blocks.filter((block) => block !== known),
    {
      epoch: own.epoch,
      first: own.first,
      last: Math.max(known?.last ?? 0, issuedThrough),
      issuedThrough: Math.max(known?.issuedThrough ?? 0, issuedThrough),
    },
  ];
}

function withCut<Piece extends Segment>(segment: Piece, cutAfter: EpochMs | undefined): Piece {
  return cutAfter === undefined ? segment : { ...segment, cutAfter };
}

function changedDemand(
  demand: readonly Demand[],
  { demandDone = [], demandSet = [] }: EventChange,
): readonly Demand[] {
  if (demandDone.length === 0 && demandSet.length === 0) return demand;
  const byPosition = new Map(demand.map((run) => [run.position, run]));
  for (const position of demandDone) byPosition.delete(position);
  for (const run of demandSet) byPosition.set(run.position, run);
  return [...byPosition.values()].sort((a, b) => a.position - b.position);
}
