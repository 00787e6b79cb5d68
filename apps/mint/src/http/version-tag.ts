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

/** @throws AppError `precondition-required` where none is named, and as `expectedVersion`. */
export function neededVersion(context: ServiceContext): number {
  const version = expectedVersion(context);
  if (version !== undefined) return version;
  throw problem("precondition-required", {
    detail: "Send If-Match with the ETag that you read",
  });
}
