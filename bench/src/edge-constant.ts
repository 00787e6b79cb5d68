import { compare } from "./compare.ts";
import type { EdgeCandidate } from "./edge-candidate.ts";
import type { AnswerPlan } from "./load/messages.ts";
import { Generator } from "./load/generator-handle.ts";
import type { Bench, Measured } from "./row.ts";
import { floorScript, startWorkerd } from "./workerd.ts";

const CONNECTIONS = 32;

/** One request to the edge, again and again, beside bare workerd that sends a constant body. */
export async function besideConstant(
  bench: Bench,
  { edge, stubMint }: EdgeCandidate,
  of: {
    readonly head: string;
    /** What the floor sends. */
    readonly constant: string;
    readonly contentType: string;
    /** What the edge's body must be. */
    readonly body: AnswerPlan["body"];
    readonly warmUp: number;
  },
): Promise<Measured> {
  const { constant } = of;
  const floor = await startWorkerd(bench.processes, bench.scratch, {
    name: "floor",
    script: await floorScript("constant"),
    vars: { BODY: constant, CONTENT_TYPE: of.contentType },
  });
  const generator = Generator.start(bench.processes);
  const bodies = { candidate: of.body, floor: { kind: "equals", text: constant } } as const;
  for (const [side, { port }] of [
    ["candidate", edge],
    ["floor", floor],
  ] as const) {
    await generator.prepare({
      ...{ side, port, connections: CONNECTIONS },
      requests: { kind: "same", heads: [of.head] },
      answers: { status: 200, body: bodies[side] },
    });
  }
  const before = stubMint.requests();
  const measured = await compare(bench, {
    generator,
    pids: { candidate: edge.pid, floor: floor.pid },
    warmUp: of.warmUp,
  });
  const asked = stubMint.requests() - before;
  const bytes = Buffer.byteLength(constant);
  return {
    ...measured,
    notes: [...measured.notes, `a body of ${bytes} bytes; the mint was asked ${asked} times`],
  };
}
