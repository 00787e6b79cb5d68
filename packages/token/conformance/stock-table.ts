/** Which of the refusals a stock library makes by itself: the tables of docs/conformance.md. */
import type { Verdict } from "./judge.ts";
import type { Vector, VectorSet } from "./pack.ts";

/** The sets that the tables are made of: under the name that all libraries know. */
export const TABLE_SETS = ["admission-eddsa", "key-set-eddsa"] as const;
/** Asked besides: who knows the newer name. */
export const NEWER_SETS = ["admission", "key-set"] as const;

/** Groups in the order of the table, in words. Those without tokens of a kind are left out. */
const TITLES: Readonly<Record<string, string>> = {
  genuine: "good tokens",
  algorithm: "another `alg`, or another spelling of it",
  unsecured: "`none` in its spellings",
  mac: "a MAC keyed with the public key",
  "key-choice": "a stranger's signature; `kid` unknown, missing or no text",
  "signature-length": "signatures of other lengths",
  signature: "signatures that do not hold, or are second spellings",
  parts: "too few or too many parts",
  json: "header or payload that is not one JSON object in UTF-8",
  "header-key": "`jwk`, `jku`, `x5u`, `x5c`, `x5t` in the header",
  critical: "`crit`, `b64`",
  type: "another `typ`: tickets, drips, credits shown as admissions",
  spelling: "base64url with padding, spare bits, white space, `+` and `/`",
  "member-names": "`Exp` for `exp`, `Typ` for `typ`",
  "claim-types": "`sub`, `jti`, `n`, `iat`, `nbf`, `exp` missing or of another type",
  issuer: "another `iss`",
  audience: "another `aud`, lists included",
  action: "another `act`",
  visitor: "another visitor than `sub` names",
  "issued-at": "`iat` in the future or in milliseconds",
  "not-before": "before `nbf`",
  expiry: "after `exp`",
  lifetime: "`exp − nbf` longer than the event's slot, or negative",
  remembered: "the same text again, over or its key gone",
  size: "longer than 2,048 characters",
  "key-set": "sets as they may be; more than 16 keys",
  "key-set-algorithm": "`alg` of header and key set, in each combination",
  "foreign-key": "other kinds of key beside ours",
  "duplicate-kid": "two keys under one `kid`",
  "key-endpoint": "rubbish from the key endpoint; the last good set after it",
  "key-form": "`kid` that is no thumbprint; `use`, `key_ops`, `alg`, `x` that are wrong",
  "private-key": "a private or symmetric key in the set",
  "degenerate-key": "keys of small order or not canonical",
  "key-use": "a key that is for something else (`vst_use`)",
  "key-life": "a key past its `exp`, or revoked",
};

export interface Column {
  /** Library and version: the head of its column. */
  readonly head: string;
  /** Over `TABLE_SETS`. */
  readonly verdict: Verdict;
  /** Over `NEWER_SETS`. */
  readonly newer: Verdict;
}

export interface Tables {
  readonly refused: readonly Row[];
  readonly accepted: readonly Row[];
  readonly newer: readonly Row[];
}

/** What it is, how many tokens, and a cell for each library. */
export type Row = readonly [what: string, tokens: string, ...cells: string[]];

/** @throws Error for a group without a title: a new one is put into words first. */
export function tablesOf(
  { older, newer }: { readonly older: readonly VectorSet[]; readonly newer: readonly VectorSet[] },
  columns: readonly Column[],
): Tables {
  const vectors = older.flatMap((set) => set.vectors);
  const good = newer.flatMap((set) => set.vectors.filter(({ expected }) => expected.ok));
  const row = (what: string, of: readonly Vector[], bad: (column: Column) => number): Row => [
    what,
    String(of.length),
    ...columns.map((column) => share(of.length - bad(column), of.length)),
  ];
  const newerRow = (what: string, belongs: (vector: Vector) => boolean): Row =>
    row(
      what,
      good.filter(belongs),
      (column) => column.newer.wronglyRefused.filter(({ vector }) => belongs(vector)).length,
    );
  const untitled = vectors.find(({ group }) => TITLES[group] === undefined);
  if (untitled !== undefined) throw new Error(`group ${untitled.group} has no title`);

  const rows = (ok: boolean, bad: (column: Column, group: string) => number): Row[] =>
    Object.entries(TITLES).flatMap(([group, title]) => {
      const of = vectors.filter((each) => each.group === group && each.expected.ok === ok);
      return of.length === 0
        ? []
        : [row(`\`${group}\`: ${title}`, of, (column) => bad(column, group))];
    });
  return {
    refused: rows(false, ({ verdict }, group) => count(verdict.wronglyAccepted, group)),
    accepted: rows(true, ({ verdict }, group) =>
      count(
        verdict.wronglyRefused.map(({ vector }) => vector),
        group,
      ),
    ),
    newer: [
      newerRow("good admissions, `Ed25519` in header and key set", isNewer),
      newerRow(
        "good admissions, each name in the header, each or none in the key set",
        ({ group }) => group === "key-set-algorithm",
      ),
    ],
  };
}

/** Of the set of admissions, all are under the newer name but one. */
function isNewer({ id, name }: Vector): boolean {
  return id.startsWith("admission-") && !name.startsWith("TV-01: alg EdDSA");
}

function count(vectors: readonly Vector[], group: string): number {
  return vectors.filter((vector) => vector.group === group).length;
}

function share(part: number, whole: number): string {
  if (part === whole) return "all";
  return part === 0 ? "**none**" : `**${part}**`;
}

/** As oxfmt writes it. */
export function markdownOf(head: Row, rows: readonly Row[]): string {
  const widths = head.map((_, at) =>
    Math.max(3, ...[head, ...rows].map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}
