/** The reference: this project's own verifier. */
import { createInterface } from "node:readline";

import type { Question } from "../../pack.ts";
import { verdictOn } from "../../reference.ts";

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line) as Question;
  const { ok, reason } = await verdictOn(question);
  process.stdout.write(`${JSON.stringify({ id: question.id, ok, reason })}\n`);
}
