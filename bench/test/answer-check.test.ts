import { describe, expect, it } from "vitest";

import { answerCheck } from "../src/load/answer-check.ts";
import type { AnswerPlan } from "../src/load/messages.ts";

function look(plan: AnswerPlan, ...bodies: readonly string[]): void {
  const check = answerCheck(plan);
  for (const text of bodies) {
    const body = Buffer.from(text);
    check.look({ status: 200, head: "", body, bytes: body.length }, "visitor");
  }
}

const place = (number: number): string =>
  JSON.stringify({ event: "bench", number, issuedAt: 1, ticket: "a.b.c" });

describe("answerCheck", () => {
  it("stops at a number that was given before", () => {
    const plan = { status: 200, body: { kind: "join", event: "bench" } } as const;
    expect(() => look(plan, place(1), place(2), place(3))).not.toThrow();
    expect(() => look(plan, place(1), place(2), place(1))).toThrow(/given twice/);
  });

  it("stops at a join of another event and at one without a ticket", () => {
    const plan = { status: 200, body: { kind: "join", event: "other" } } as const;
    expect(() => look(plan, place(1))).toThrow(/not the answer/);
    expect(() => look(plan, '{"event":"other","number":1}')).toThrow(/not the answer/);
  });

  it("stops at another status and at another body", () => {
    const body = { kind: "equals", text: "page" } as const;
    expect(() => look({ status: 200, body }, "page")).not.toThrow();
    expect(() => look({ status: 200, body }, "pale")).toThrow(/not the body due/);
    expect(() => look({ status: 201, body }, "page")).toThrow(/status 200/);
  });

  it("stops at another problem, and at what is none", () => {
    const plan = { status: 200, body: { kind: "problem", code: "waiting" } } as const;
    const type = (code: string) => `{"type":"urn:vestibule:problem:${code}","status":429}`;
    expect(() => look(plan, type("waiting"))).not.toThrow();
    expect(() => look(plan, type("too-many-requests"))).toThrow(/not waiting/);
    expect(() => look(plan, "<!doctype html>")).toThrow(/not waiting/);
  });

  it("stops at what is not an open drip", () => {
    const plan = { status: 200, body: { kind: "drip", event: "bench" } } as const;
    expect(() => look(plan, '{"event":"bench","state":"ended","segments":[]}')).toThrow(
      /not a drip/,
    );
  });
});
