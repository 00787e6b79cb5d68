import { type Result, ok, refuse } from "@vestibule/kernel/result";
import * as z from "zod/mini";

/** One mistake in an input: where (`hosts.0`) and what. */
export interface Mistake {
  readonly field: string;
  readonly message: string;
}

/** Reads `input` by `schema`; every mistake is named at once, none echoes the value. */
export function parse<Schema extends z.ZodMiniType>(
  schema: Schema,
  input: unknown,
): Result<z.output<Schema>, readonly Mistake[]> {
  const read = z.safeParse(schema, input);
  if (read.success) return ok(read.data);
  return refuse(
    read.error.issues.flatMap((issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => ({
            field: [...issue.path, key].join("."),
            message: "Unknown member",
          }))
        : [{ field: issue.path.join("."), message: issue.message }],
    ),
  );
}
