/** What time does: who is late is told so, and whoever moves is let go on. */
import { describe, expect, test } from "vitest";

import { DEADLINE_MS, type ProxyWorld, trickle } from "../support/proxy-world.ts";

/** What a busy machine may add. */
const SLACK_MS = 1_500;

export function deadlines(world: () => ProxyWorld): void {
  // Side by side: they mostly wait.
  describe.concurrent("the deadline", () => {
    test("an origin late with its head: 504, and the request to it is given up", async () => {
      const began = performance.now();
      let left: Promise<void> | undefined;
      const request = { start: "GET /p/x", fields: [world().page] };
      const wire = await world().open(request, (_, at) => {
        left = at.closed;
        return at.closed;
      });
      expect(world().told(await world().answer(wire, request))).toEqual([
        504,
        "origin-timeout",
        "5",
      ]);
      const ms = performance.now() - began;
      expect(ms).toBeGreaterThanOrEqual(DEADLINE_MS - 50);
      expect(ms).toBeLessThan(DEADLINE_MS + SLACK_MS);
      await left;
    });

    test("a client that stops in its upload: 408 once it has stood still for so long", async () => {
      const request = { start: "POST /p/x", fields: ["Content-Length: 10", world().page] };
      const began = performance.now();
      const wire = await world().open(request, (_, at) => at.closed);
      wire.write("begun");
      expect(world().told(await world().answer(wire, request))).toEqual([
        408,
        "request-timeout",
        "5",
      ]);
      expect(performance.now() - began).toBeLessThan(DEADLINE_MS * 1.2 + SLACK_MS);
    });

    test("a body longer than it, upwards and downwards, is not cut while it moves", async () => {
      const beats = Array.from({ length: 6 }, (_, n) => `beat ${n}`);
      const everyMs = (DEADLINE_MS * 1.3) / beats.length;
      const request = { start: "POST /p/x", fields: ["Transfer-Encoding: chunked"] };
      const exchange = async (): Promise<string[]> => {
        let uploaded = "";
        const wire = await world().open(request, async (head, at) => {
          uploaded = (await at.body(head)).toString();
          at.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
          await trickle(at, beats, { everyMs });
        });
        await trickle(wire, beats, { everyMs });
        const { body } = await world().answer(wire, request);
        return [uploaded, body.toString()];
      };
      expect(await exchange()).toEqual([beats.join(""), beats.join("")]);
    });
  });
}
