/** Pieces of which every part of the OpenAPI document is made. */
import { PROBLEM_MEDIA_TYPE } from "@vestibule/contracts/names";
import { PROBLEM_TYPE_PREFIX, PROBLEMS, type ProblemCode } from "@vestibule/contracts/problems";
import * as z from "zod/mini";

export type Json = Readonly<Record<string, unknown>>;

export const moment: Json = { type: "integer", minimum: 0, description: "Epoch milliseconds" };
export const count: Json = { type: "integer", minimum: 0 };

/** A schema of ours as JSON Schema (2020-12, which OpenAPI 3.1 uses), as a client writes it. */
export function schemaOf(schema: z.ZodMiniType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}

export function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

export function json(schema: Json, description: string, headers: Json = {}): Json {
  return {
    description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: { "application/json": { schema } },
  };
}

/** Problem responses by status; codes that share one are listed together. */
export function problems(...codes: readonly ProblemCode[]): Json {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group
          .map((code) => `\`${PROBLEM_TYPE_PREFIX}${code}\`: ${PROBLEMS[code].title}`)
          .join("\n\n"),
        content: { [PROBLEM_MEDIA_TYPE]: { schema: ref("Problem") } },
      },
    ]),
  );
}

export const admin: Json = { tags: ["admin"], security: [{ adminToken: [] }] };

export function body(name: string, required: boolean = true): Json {
  return { required, content: { "application/json": { schema: ref(name) } } };
}

export function object(properties: Json): Json {
  return { type: "object", required: Object.keys(properties), properties };
}
