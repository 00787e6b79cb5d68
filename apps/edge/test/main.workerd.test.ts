/** The Worker itself, as the platform starts it. */
import { expect, test, vi } from "vitest";
import worker from "../src/main.ts";

const context = { waitUntil: () => undefined } as unknown as ExecutionContext;

test("vars that cannot be used: 503 for every request, and told in the log once", async () => {
  const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
  for (let asked = 0; asked < 3; asked += 1) {
    const request = new Request<unknown, IncomingRequestCfProperties>("https://shop.example/");
    const response = await worker.fetch(request, {}, context);
    expect(response.status).toBe(503);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  }
  const lines = told.mock.calls.map(([line]) => JSON.parse(String(line)) as { mistake: string });
  expect(lines.map(({ mistake }) => mistake.split(":")[0])).toEqual([
    ...["MINT_URLS", "ORIGIN_URL", "ISSUER"],
  ]);
});
