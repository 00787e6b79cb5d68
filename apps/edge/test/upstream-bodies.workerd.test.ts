/** Answers of the mint and the purchase API that say nothing of their length, have no end, or break off. */
import { describe, expect, test } from "vitest";
import { UPSTREAM_BYTES_MAX } from "../src/limits.ts";
import { OWN_PAGE, VISITOR_A, type World, cookies, createWorld } from "./world.ts";

const CHUNK = new Uint8Array(16_384).fill(0x20);

/** Blanks without end: JSON may begin with as many as it likes. */
function endless(status: number) {
  const seen = { bytes: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        seen.bytes += CHUNK.byteLength;
        controller.enqueue(CHUNK.slice());
      },
      cancel() {
        seen.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, answer: new Response(body, { status }) };
}

function cutOff(start: string, status: number): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(start));
      controller.error(new Error("cut off"));
    },
  });
  return new Response(body, { status });
}

const join = (world: World) =>
  world.post("/_vestibule/events/demo/tickets", {
    headers: { ...OWN_PAGE, Cookie: cookies({ visitor: VISITOR_A }) },
  });

async function buy(world: World) {
  const Cookie = cookies({ visitor: VISITOR_A, admission: await world.admission() });
  const headers = { ...OWN_PAGE, Cookie, "Content-Type": "application/json" };
  return world.post("/_vestibule/events/demo/purchases", { headers, body: "{}" });
}

describe.each([201, 409, 503])("without end, %i", (status) => {
  test("of a mint: no more of it is read than an answer may have, and the next mint is asked", async () => {
    const world = await createWorld();
    const { seen, answer } = endless(status);
    world.mint = ({ url, method }) =>
      method === "POST" && url.startsWith("https://mint-1.") ? answer : undefined;
    expect((await join(world)).status).toBe(201);
    expect(seen.cancelled).toBe(true);
    expect(seen.bytes).toBeLessThanOrEqual(UPSTREAM_BYTES_MAX + CHUNK.byteLength);
  });

  test("of the purchase API: the same, and the fan is told to send it again", async () => {
    const world = await createWorld();
    const { seen, answer } = endless(status);
    world.purchase = () => answer;
    const response = await buy(world);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ type: "urn:vestibule:problem:unavailable" });
    expect(response.headers.get("retry-after")).toBe("5");
    expect(seen.cancelled).toBe(true);
    expect(seen.bytes).toBeLessThanOrEqual(UPSTREAM_BYTES_MAX + CHUNK.byteLength);
  });
});

test("an answer that breaks off decides nothing", async () => {
  const world = await createWorld();
  world.mint = ({ method }) => (method === "POST" ? cutOff('{"number":', 201) : undefined);
  expect((await join(world)).status).toBe(503);
  world.purchase = () => cutOff('{"orderId":"o-1"', 201);
  const response = await buy(world);
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ type: "urn:vestibule:problem:unavailable" });
});

test("an answer as long as one may be goes through, byte for byte", async () => {
  const world = await createWorld();
  const body = JSON.stringify({ orderId: "o-1", more: "…".repeat(1_000) }).padEnd(
    UPSTREAM_BYTES_MAX - 2_000,
  );
  expect(new TextEncoder().encode(body)).toHaveLength(UPSTREAM_BYTES_MAX);
  world.purchase = () => new Response(body, { status: 201 });
  const response = await buy(world);
  expect([response.status, await response.text()]).toEqual([201, body]);
});
