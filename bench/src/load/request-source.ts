import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

import { withJunkKid } from "../keys/junk-kid.ts";
import type { RequestPlan } from "./messages.ts";

export interface Outgoing {
  readonly bytes: Buffer;
  /** Set where the answer is looked at per visitor. */
  readonly visitor?: string;
}

/** Makes the requests of a round before its clock starts. */
export interface RequestSource {
  take(count: number): readonly Outgoing[];
}

export function requestSource(plan: RequestPlan): RequestSource {
  switch (plan.kind) {
    case "same":
      return sameAgain(plan.heads);
    case "once":
      return eachOnce(plan);
    case "junk-kid":
      return junkKids(plan);
    case "join":
      return joins(plan.head);
  }
}

function sameAgain(heads: readonly string[]): RequestSource {
  const outgoing = heads.map((head) => ({ bytes: Buffer.from(head, "latin1") }));
  let next = 0;
  return {
    take: (count) =>
      Array.from({ length: count }, () => {
        const one = outgoing[next % outgoing.length];
        if (one === undefined) throw new Error("no request to send");
        next += 1;
        return one;
      }),
  };
}

function eachOnce(plan: { file: string; head: string }): RequestSource {
  const lines = readFileSync(plan.file, "latin1").trimEnd().split("\n");
  let next = 0;
  return {
    take: (count) => {
      const batch = lines.slice(next, next + count);
      next += count;
      if (batch.length < count) throw new Error(`all ${lines.length} tokens are used up`);
      return batch.map((line) => {
        const [visitor = "", token = ""] = line.split(" ");
        return { bytes: Buffer.from(fill(plan.head, visitor, token), "latin1") };
      });
    },
  };
}

/** `$VISITOR` and `$TOKEN` in `head`, replaced. */
export function fill(head: string, visitor: string, token: string): string {
  return head.replace("$VISITOR", visitor).replace("$TOKEN", token);
}

function junkKids({ head, token }: { head: string; token: string }): RequestSource {
  return {
    take: (count) =>
      Array.from({ length: count }, () => ({
        bytes: Buffer.from(head.replace("$TOKEN", withJunkKid(token)), "latin1"),
      })),
  };
}

function joins(head: string): RequestSource {
  return {
    take: (count) => {
      const random = randomBytes(count * 32);
      return Array.from({ length: count }, (_, index) => {
        const visitor = random.toString("base64url", index * 32, index * 32 + 32);
        const body = `{"visitor":"${visitor}"}`;
        const text = head.replace("$LENGTH", String(body.length)) + body;
        return { bytes: Buffer.from(text, "latin1"), visitor };
      });
    },
  };
}
