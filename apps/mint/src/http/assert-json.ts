import type { ServiceContext } from "@vestibule/service/app";
import { isJsonMediaType } from "@vestibule/service/json-body";
import { problem } from "@vestibule/service/problems";

/** A form of another site cannot send this media type without asking first (case AO-05). */
export function assertJson(context: ServiceContext): void {
  const type = context.req.header("Content-Type");
  if (type !== undefined && !isJsonMediaType(type)) throw problem("unsupported-media-type");
}
