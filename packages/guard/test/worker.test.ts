/** In real isolates, whose requests end and must not wait for each other's promises (jose 355, 509). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { Miniflare, convertV4MiniflareOptions } from "miniflare";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Shop, serve } from "./servers.ts";
import { EVENT, ISSUER, OTHER_VISITOR, VISITOR, World } from "./world.ts";

const ROOT = join(import.meta.dirname, "../../..");
const compatibilityDate = /^compatibility_date = "(.*)"$/m.exec(
  readFileSync(join(ROOT, "wrangler.toml"), "utf8"),
)?.[1];

let world: World;
let mint: Shop;
let worker: Miniflare;

beforeAll(async () => {
  world = await World.create();
  mint = await serve(world);
  const contents = `
    import { createGuard } from "@vestibule/guard";
    import { requireAdmission } from "@vestibule/guard/hono";
    import { Hono } from "hono";
    const guard = createGuard(${JSON.stringify({
      ...{ mintUrls: mint.url, purchaseUrl: mint.url, issuer: ISSUER, event: EVENT },
    })});
    const bare = createGuard(${JSON.stringify({ mintUrls: mint.url, issuer: ISSUER, event: EVENT })});
    const app = new Hono();
    app.post("/checkout", requireAdmission(guard), async (c) => {
      const outcome = await guard.spend(c.get("admission"), { idempotencyKey: "cart-1" });
      return c.json({ kind: outcome.kind, body: await c.req.text() });
    });
    app.post("/bare", async (c) => {
      const verdict = await bare.check(c.req.raw); // nobody told it of waitUntil
      return verdict.ok ? c.text("admitted") : verdict.response;
    });
    export default app;`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    ...{ bundle: true, format: "esm", write: false, platform: "neutral" },
  });
  worker = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: outputFiles[0]?.text ?? "",
      cf: false,
      ...(compatibilityDate === undefined ? {} : { compatibilityDate }),
    }),
  );
  await worker.ready;
}, 60_000);

afterAll(async () => {
  await worker.dispose();
  await mint.close();
});

async function ask(path: string, number: number, visitor = VISITOR): Promise<string> {
  world.now = Date.now();
  const answer = await worker.dispatchFetch(`http://shop.example${path}`, {
    method: "POST",
    headers: {
      "Vestibule-Admission": await world.admission({ number }),
      "Vestibule-Visitor": visitor,
    },
    body: "seat=12",
  });
  return `${answer.status} ${await answer.text()}`;
}

test("forty first requests at once are all let in, and sell once each", async () => {
  const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
  const answers = await Promise.all(numbers.map((number) => ask("/checkout", number)));
  expect([...new Set(answers)]).toEqual(['200 {"kind":"spent","body":"seat=12"}']);
  expect(world.asked.filter((path) => path.endsWith("/jwks.json")).length).toBeLessThan(3);
  expect(await ask("/checkout", 41, OTHER_VISITOR)).toMatch(/^401 /);
});

test("goes on while refreshes come due, also where nobody keeps them alive, and sees a hold", async () => {
  const ends = Date.now() + 5_000;
  const answers = new Set<string>();
  for (let number = 100; Date.now() < ends; number += 2) {
    const both = [ask("/bare", number), ask("/checkout", number + 1)];
    for (const answer of await Promise.all(both)) answers.add(answer);
  }
  expect([...answers].toSorted()).toEqual(
    ["200 admitted", '200 {"kind":"spent","body":"seat=12"}'].toSorted(),
  );
  world.drip = { state: "paused", heldSince: Date.now(), heldScope: "all" };
  for (const path of ["/bare", "/checkout"]) {
    await expect.poll(() => ask(path, 7), { timeout: 10_000 }).toMatch(/^503 .*problem:held/);
  }
});
