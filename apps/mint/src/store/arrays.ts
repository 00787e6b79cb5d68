/**
 * Array parameters as PostgreSQL's own text form. The driver learns array types by a query of its own
 * on every connection, which ours do without.
 */
export function bigints(values: readonly number[]): string {
  return `{${values.join(",")}}`;
}

/** @param values without quotes and backslashes: event names. */
export function texts(values: readonly string[]): string {
  return `{${values.map((value) => `"${value}"`).join(",")}}`;
}
