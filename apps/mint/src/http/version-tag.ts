/** ETags of what has a version, and the `If-Match` that names one. */
import type { ServiceContext } from "@vestibule/service/app";
import { problem } from "@vestibule/service/problems";

export function etagOf(version: number): string {
  return `"${version}"`;
}

/** @throws AppError `version-mismatch` for a text that is no ETag of ours. */
export function expectedVersion(context: ServiceContext): number | undefined {
  const text = context.req.header("If-Match");
  if (text === undefined || text === "*") return undefined;
  const [, version] = /^"(\d{1,15})"$/.exec(text) ?? [];
  if (version === undefined) throw problem("version-mismatch");
  return Number(version);
}
