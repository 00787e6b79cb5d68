/**
 * Environment → frozen configuration. One reader for every app: all mistakes at once and by name,
 * values never echoed, and a variable with our prefix that nobody knows is a mistake too.
 */
import { readFileSync } from "node:fs";
import { parse } from "@vestibule/contracts/parse";
import * as z from "zod/mini";
import { Secret } from "./secret.ts";

export const ENV_PREFIX = "VESTIBULE_";

/** One variable: its full name, how its text is read, and what holds when it is absent. */
export interface Variable<Value> {
  readonly name: string;
  readonly schema: z.ZodMiniType<Value>;
  /** Absent: the variable is required. */
  readonly fallback?: { readonly value: Value };
  /** Secrets may be given as a file instead: `NAME_FILE` holds its path. */
  readonly fromFile: boolean;
}

export type Variables = Readonly<Record<string, Variable<unknown>>>;
export type Config<Vars extends Variables> = {
  readonly [Key in keyof Vars]: Vars[Key] extends Variable<infer Value> ? Value : never;
};

/** Every mistake of an environment, by variable name. Its message is safe to print. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The configuration has mistakes:\n${mistakes.map((line) => `  ${line}`).join("\n")}`);
    this.mistakes = mistakes;
  }
}

/** A variable that must be set. */
export function required<Value>(name: string, schema: z.ZodMiniType<Value>): Variable<Value> {
  return { name, schema, fromFile: false };
}

/** A variable with a default. */
export function optional<Value, Fallback>(
  name: string,
  schema: z.ZodMiniType<Value>,
  fallback: Fallback,
): Variable<Value | Fallback> {
  return {
    name,
    schema,
    fallback: { value: fallback },
    fromFile: false,
  };
}

/** A secret that must be given, in `name` or in the file that `name_FILE` names. */
export function requiredSecret<Value>(name: string, schema: z.ZodMiniType<Value>): Variable<Value> {
  return { name, schema, fromFile: true };
}

/** A secret that may be absent, in `name` or in the file that `name_FILE` names. */
export function optionalSecret<Value>(
  name: string,
  schema: z.ZodMiniType<Value>,
): Variable<Value | undefined> {
  return { name, schema, fallback: { value: undefined }, fromFile: true };
}

/** What must hold between settings: one line for each mistake. Settings that could not be read are absent. */
export type CrossCheck<Vars extends Variables> = (
  config: Partial<Config<Vars>>,
) => readonly string[];

/**
 * @param readFile how `NAME_FILE` is read; one line end at its end is not part of the secret.
 * @throws ConfigError with all mistakes.
 */
export function readConfig<Vars extends Variables>(
  variables: Vars,
  environment: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string = (path) => readFileSync(path, "utf8"),
  crossCheck: CrossCheck<Vars> = () => [],
): Config<Vars> {
  const mistakes: string[] = [];
  const known = new Set<string>();
  const config: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(variables)) {
    known.add(variable.name);
    if (variable.fromFile) known.add(`${variable.name}_FILE`);
    const text = textOf(variable, environment, readFile);
    if (!text.ok) {
      mistakes.push(text.mistake);
      continue;
    }
    if (text.value === undefined) {
      if (variable.fallback === undefined) mistakes.push(`${namesOf(variable)} is required`);
      else config[key] = variable.fallback.value;
      continue;
    }
    const read = parse(variable.schema, text.value);
    if (read.ok) config[key] = read.value;
    else mistakes.push(`${text.name}: ${read.refusal.map(({ message }) => message).join("; ")}`);
  }
  for (const name of Object.keys(environment)) {
    if (name.startsWith(ENV_PREFIX) && !known.has(name)) mistakes.push(`${name} is not a setting`);
  }
  mistakes.push(...crossCheck(config as Partial<Config<Vars>>));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return Object.freeze(config) as Config<Vars>;
}

type Text =
  | { ok: true; value: string | undefined; /** The variable that was set. */ name: string }
  | { ok: false; mistake: string };

function textOf(
  { name, fromFile }: Variable<unknown>,
  environment: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): Text {
  const value = environment[name];
  const path = fromFile ? environment[`${name}_FILE`] : undefined;
  if (path === undefined) return { ok: true, value, name };
  if (value !== undefined) return { ok: false, mistake: `set ${name} or ${name}_FILE, not both` };
  try {
    return { ok: true, value: readFile(path).replace(/\r?\n$/, ""), name: `${name}_FILE` };
  } catch (error) {
    const code = (error as { code?: unknown } | undefined)?.code;
    const why = typeof code === "string" ? ` (${REASONS[code] ?? code})` : "";
    return { ok: false, mistake: `${name}_FILE names a file that cannot be read${why}` };
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "ENOENT: there is no such file",
  EACCES: "EACCES: no permission",
  EPERM: "EPERM: no permission",
  EISDIR: "EISDIR: it is a directory",
};

function namesOf({ name, fromFile }: Variable<unknown>): string {
  return fromFile ? `${name} or ${name}_FILE` : name;
}

/** A whole number in plain decimal digits: no sign but `-`, no space, exponent, fraction or leading 0. */
export function wholeNumber({ min, max }: { min: number; max: number }): z.ZodMiniType<number> {
  return z.pipe(
    z.string().check(z.regex(/^(?:0|-?[1-9]\d{0,15})$/, "must be a whole number")),
    z.pipe(
      z.transform((text: string) => Number(text)),
      z.number().check(z.gte(min, `must be at least ${min}`), z.lte(max, `must be at most ${max}`)),
    ),
  );
}

/** A TCP port; 0 lets the system choose. */
export function port(): z.ZodMiniType<number> {
  return wholeNumber({ min: 0, max: 65_535 });
}

/** `true` or `false`. */
export function flag(): z.ZodMiniType<boolean> {
  return z.pipe(
    oneOf(["true", "false"]) as z.ZodMiniType<string, string>,
    z.transform((text: string) => text === "true"),
  ) as z.ZodMiniType<boolean>;
}

/** A text of 1 to `charsMax` characters without control characters or space around it. */
export function text({ charsMax }: { charsMax: number }): z.ZodMiniType<string> {
  return z
    .string()
    .check(
      z.minLength(1, "must not be empty"),
      z.maxLength(charsMax, `must have at most ${charsMax} characters`),
      z.regex(/^\S(?:[^\p{Cc}]*\S)?$/u, "must have no space around it and no control characters"),
    );
}

/** One of `values`. */
export function oneOf<const Value extends string>(values: readonly Value[]): z.ZodMiniType<Value> {
  return z.enum(values as unknown as [Value, ...Value[]], `must be one of ${values.join(", ")}`);
}

/** An absolute URL with one of `protocols` (`"http:"`), without a fragment. */
export function url({ protocols }: { protocols: readonly string[] }): z.ZodMiniType<string> {
  const isUrl = (value: string): boolean => {
    const parsed = URL.parse(value);
    return parsed !== null && protocols.includes(parsed.protocol) && parsed.hash === "";
  };
  const schemes = protocols.map((protocol) => `${protocol}//`).join(" or ");
  return z.string().check(z.refine(isUrl, `must be a URL that begins with ${schemes}`));
}

/** The base URL of an HTTP service, without credentials, query or a slash at its end. */
export function httpBase(): z.ZodMiniType<string> {
  const isBase = (value: string): boolean => {
    const parsed = URL.parse(value);
    if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) return false;
    return !value.endsWith("/") && !/[?#@\s]/.test(value);
  };
  return z
    .string()
    .check(
      z.refine(
        isBase,
        "must be http:// or https://, without credentials, query or a slash at its end",
      ),
    );
}

/** Between 1 and `max` values, separated by commas. */
export function list<Item>(
  item: z.ZodMiniType<Item>,
  { max }: { max: number },
): z.ZodMiniType<readonly Item[]> {
  return z.pipe(
    z.string().check(z.minLength(1, "must not be empty")),
    z.pipe(
      z.transform((text: string) => text.split(",").map((part) => part.trim())),
      z
        .array(item as z.ZodMiniType<Item, string>)
        .check(z.maxLength(max, `must have at most ${max} entries`)),
    ),
  ) as z.ZodMiniType<readonly Item[]>;
}

/**
 * A mistake for each pair of secrets that are the same text: who is told one would have the other's power.
 *
 * @param secrets by the names of their variables.
 */
export function sameSecrets(secrets: Readonly<Record<string, Secret | undefined>>): string[] {
  const known = Object.entries(secrets).flatMap(([name, secret]) =>
    secret === undefined ? [] : [{ name, text: secret.reveal() }],
  );
  return known.flatMap(({ name, text }, index) =>
    known
      .slice(index + 1)
      .filter((other) => other.text === text)
      .map((other) => `${name} and ${other.name} must differ`),
  );
}

/** JSON of any shape; what it means is decided later. */
export function json(): z.ZodMiniType {
  return z.pipe(
    z.string(),
    z.transform((text: string, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.issues.push({ code: "custom", input: undefined, message: "must be JSON" });
        return z.NEVER;
      }
    }),
  );
}

/** A secret of at least `charsMin` visible ASCII characters. */
export function secret({ charsMin }: { charsMin: number }): z.ZodMiniType<Secret> {
  return z.pipe(
    z
      .string()
      .check(
        z.minLength(charsMin, `must have at least ${charsMin} characters`),
        z.maxLength(4_096, "must have at most 4096 characters"),
        z.regex(/^[\x21-\x7e]*$/, "must have visible ASCII characters only"),
      ),
    z.transform((value: string) => new Secret(value)),
  ) as z.ZodMiniType<Secret>;
}

/** A PostgreSQL URL; it may carry a password, so that it is a secret. */
export function postgresUrl(): z.ZodMiniType<Secret> {
  return z.pipe(
    url({ protocols: ["postgres:", "postgresql:"] }) as z.ZodMiniType<string, string>,
    z.transform((value: string) => new Secret(value)),
  ) as z.ZodMiniType<Secret>;
}
