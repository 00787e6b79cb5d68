import { expect, test } from "vitest";
import { NOW, PAGE_VIEW, VISITOR_A, cookies, createWorld } from "./world.ts";

test("a fan with a good admission reaches the origin, by cookie and by header", async () => {
  const world = await createWorld();
  const admission = await world.admission();
  const byCookie = await world.get("/events/demo?x=1", {
    headers: { ...PAGE_VIEW, Cookie: cookies({ visitor: VISITOR_A, admission }) },
  });
  expect(byCookie.status).toBe(200);
  expect(await byCookie.json()).toEqual({ path: "/events/demo" });
  const byHeader = await world.get("/events/demo", {
    headers: { "Vestibule-Admission": admission, "Vestibule-Visitor": VISITOR_A },
  });
  expect(byHeader.status).toBe(200);
  expect(NOW).toBeGreaterThan(0);
});
