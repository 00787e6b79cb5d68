/** One response under 14,336 bytes, in every language. */
import { gzipSync } from "node:zlib";
import { LANGUAGES } from "@vestibule/contracts/languages";
import { expect, test } from "vitest";
import { PAGE_VIEW, VISITOR_A, cookies, createWorld } from "../world.ts";

const LIMIT_BYTES = 14_336;

test.each(LANGUAGES)("%s: under 14,336 bytes, with and without a place", async (tag) => {
  const world = await createWorld();
  const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(1_240_833) });
  for (const own of [{}, { Cookie }]) {
    const headers = { ...PAGE_VIEW, "Accept-Language": tag, ...own };
    const body = Buffer.from(await (await world.get("/events/demo", { headers })).arrayBuffer());
    expect(gzipSync(body, { level: 6 }).length).toBeLessThan(LIMIT_BYTES);
  }
});
