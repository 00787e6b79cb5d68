import { PROBLEM_TYPE_PREFIX } from "@vestibule/contracts/problems";

import type { HttpAnswer } from "./http-response.ts";
import type { AnswerPlan, Sample } from "./messages.ts";

/** Throws at the first answer that is not what the row is about: fast and wrong is no result. */
export interface AnswerCheck {
  look(answer: HttpAnswer, visitor: string | undefined): void;
  /** Samples since the last call. */
  samples(): readonly Sample[];
}

const SAMPLE_EVERY = 64;
const JOIN_SAMPLE_EVERY = 512;
const NUMBERS_MAX = 1 << 23;
const NUMBER = /"number":(\d+)/;

export function answerCheck(plan: AnswerPlan): AnswerCheck {
  const body = bodyCheck(plan.body);
  return {
    look: (answer, visitor) => {
      if (answer.status !== plan.status) {
        throw new Error(
          `status ${answer.status} where ${plan.status} is due: ${answer.body.toString("utf8", 0, 300)}`,
        );
      }
      body.look(answer, visitor);
    },
    samples: () => body.samples(),
  };
}

function bodyCheck(plan: AnswerPlan["body"]): AnswerCheck {
  switch (plan.kind) {
    case "equals":
      return equals(Buffer.from(plan.text));
    case "problem":
      return problem(plan.code);
    case "drip":
      return drip(plan.event);
    case "page":
      return page(plan.bytes, plan.words);
    case "join":
      return join(plan.event);
  }
}

function equals(due: Buffer): AnswerCheck {
  return {
    look: ({ body }) => {
      if (!body.equals(due)) throw new Error(`not the body due: ${body.toString("utf8", 0, 300)}`);
    },
    samples: () => [],
  };
}

function problem(code: string): AnswerCheck {
  const type = `"type":"${PROBLEM_TYPE_PREFIX}${code}"`;
  return {
    look: ({ body }) => {
      if (!body.includes(type)) throw new Error(`not ${code}: ${body.toString("utf8", 0, 300)}`);
    },
    samples: () => [],
  };
}

function drip(event: string): AnswerCheck {
  let seen = 0;
  return {
    look: ({ body }) => {
      seen += 1;
      if (seen % SAMPLE_EVERY !== 1) return;
      const view = JSON.parse(body.toString("utf8")) as Record<string, unknown>;
      const good =
        view["event"] === event &&
        view["state"] === "open" &&
        Array.isArray(view["segments"]) &&
        view["segments"].length > 0 &&
        typeof view["serving"] === "number";
      if (!good) throw new Error(`not a drip: ${body.toString("utf8", 0, 300)}`);
    },
    samples: () => [],
  };
}

function page(bytes: number, words: readonly string[]): AnswerCheck {
  let seen = 0;
  return {
    look: ({ body }) => {
      if (body.length !== bytes) throw new Error(`${body.length} bytes where ${bytes} are due`);
      seen += 1;
      if (seen % SAMPLE_EVERY !== 1) return;
      const missing = words.find((word) => !body.includes(word));
      if (missing !== undefined) throw new Error(`a page without ${missing}`);
    },
    samples: () => [],
  };
}

function join(event: string): AnswerCheck {
  const given = new Uint8Array(NUMBERS_MAX);
  let seen = 0;
  let kept: Sample[] = [];
  return {
    look: ({ body }, visitor) => {
      const text = body.toString("latin1");
      const number = Number(NUMBER.exec(text)?.[1]);
      if (!(number >= 1 && number < NUMBERS_MAX))
        throw new Error(`not a place: ${text.slice(0, 300)}`);
      if (given[number] === 1) throw new Error(`number ${number} was given twice`);
      given[number] = 1;
      seen += 1;
      if (seen % JOIN_SAMPLE_EVERY !== 1 || visitor === undefined) return;
      const answer = JSON.parse(text) as Record<string, unknown>;
      if (answer["event"] !== event || typeof answer["ticket"] !== "string")
        throw new Error(`not the answer to a join: ${text.slice(0, 300)}`);
      kept.push({ visitor, ticket: answer["ticket"] });
    },
    samples: () => {
      const samples = kept;
      kept = [];
      return samples;
    },
  };
}
