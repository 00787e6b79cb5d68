/** A checkout of one's own behind Vestibule, on Hono 4: Node here, the same on workerd, Bun and Deno. */
import { serve } from "@hono/node-server";
import { requireAdmission } from "@vestibule/guard/hono";
import { Hono } from "hono";
import { guard } from "./guard.mjs";
import { sell } from "./sell.mjs";

const app = new Hono();
app.post("/checkout", requireAdmission(guard), async (c) => {
  const wanted = await c.req.json().catch(() => undefined);
  const { status, headers, body } = await sell(c.get("admission"), wanted);
  return c.json(body, status, headers);
});

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/checkout`);
});
