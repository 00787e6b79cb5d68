/** The hot path: a join on plain node:http objects, before the app. Same answers, fewer objects. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { joinRequestSchema } from "@vestibule/contracts/line-api";
import { isSlug } from "@vestibule/contracts/slug";
import { pathOf, readJsonBytes, sendProblem } from "@vestibule/service/fast-http";
import { decodeJson } from "@vestibule/service/json-body";
import type { Log } from "@vestibule/service/log";
import { problem } from "@vestibule/service/problems";
import type { Mint } from "../mint.ts";

const PREFIX = "/v1/events/";
const SUFFIX = "/tickets";

/** @returns a listener that is true when it takes the request: `POST /v1/events/{event}/tickets`. */
export function fastJoin({
  mint,
  log,
}: {
  mint: Mint;
  log: Log;
}): (incoming: IncomingMessage, outgoing: ServerResponse) => boolean {
  return (incoming, outgoing) => {
    if (incoming.method !== "POST") return false;
    const path = pathOf(incoming);
    if (!path.startsWith(PREFIX) || !path.endsWith(SUFFIX)) return false;
    const event = path.slice(PREFIX.length, -SUFFIX.length);
    answer({ mint, incoming, outgoing, event }).catch((error: unknown) =>
      sendProblem(incoming, outgoing, error, log),
    );
    return true;
  };
}

async function answer(request: {
  mint: Mint;
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  event: string;
}): Promise<void> {
  const { mint, incoming, outgoing, event } = request;
  if (!isSlug(event)) throw problem("event-not-found");
  mint.entry(event);
  const body = decodeJson(await readJsonBytes(incoming), joinRequestSchema);
  const { fresh, answer } = await mint.join(event, body);
  // Names, numbers and base64url: one byte a character, which Node writes without looking for others.
  const text = JSON.stringify(answer);
  outgoing.writeHead(fresh ? 201 : 200, {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Content-Length": text.length,
  });
  outgoing.end(text, "latin1");
}
