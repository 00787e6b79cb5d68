/** Reading a JSON body: media type, size while it arrives, UTF-8, JSON, schema. */
import { BODY_BYTES_MAX } from "@vestibule/contracts/limits";
import { parse } from "@vestibule/contracts/parse";
import type * as z from "zod/mini";
import { problem } from "./problems.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * True for `application/json` and `application/…+json`, with or without parameters; but JSON is UTF-8 (RFC 8259
 * section 8.1), so not with another `charset`.
 */
export function isJsonMediaType(contentType: string | undefined | null): boolean {
  const text = contentType ?? "";
  if (!/^application\/(?:[a-z0-9.!#$&^_-]+\+)?json\s*(?:;|$)/i.test(text)) return false;
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(text) ?? [];
  return /^(?:utf-?8|us-ascii)$/i.test(charset);
}

/**
 * The body of a request, read by `schema`.
 *
 * @throws AppError `unsupported-media-type`, `body-too-large` (also for a chunked body, as soon as
 * it is), `bad-request` with `errors` [{field, message}] that echo no value.
 */
export async function readJson<Schema extends z.ZodMiniType>(
  request: Request,
  schema: Schema,
  { bytesMax = BODY_BYTES_MAX }: { bytesMax?: number } = {},
): Promise<z.output<Schema>> {
  if (!isJsonMediaType(request.headers.get("content-type")))
    throw problem("unsupported-media-type");
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax)
    throw problem("body-too-large");
  return decodeJson(await readBytes(request.body, bytesMax), schema);
}

/**
 * Bytes → value of `schema`.
 *
 * @throws AppError `bad-request`.
 */
export function decodeJson<Schema extends z.ZodMiniType>(
  bytes: Uint8Array,
  schema: Schema,
): z.output<Schema> {
  const read = parse(schema, parseJson(bytes));
  if (read.ok) return read.value;
  throw problem("bad-request", {
    detail: "Some members of the body are not allowed",
    extensions: { errors: read.refusal },
  });
}

/** @throws AppError `bad-request` when `bytes` are no UTF-8 or no JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes)) as unknown;
  } catch {
    throw problem("bad-request", { detail: "The body is not JSON" });
  }
}

async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.byteLength;
      if (length > bytesMax) throw problem("body-too-large");
      chunks.push(chunk);
    }
  } catch (error) {
    if (length > bytesMax) throw error;
    throw problem("bad-request", { detail: "The body did not arrive", cause: error });
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
