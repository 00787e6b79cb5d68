/** AO-02: a time on the page says in which zone it is. */
import { describe, expect, test } from "vitest";
import { EVENT, NOW, PAGE_VIEW, VISITOR_A, cookies, createWorld } from "./world.ts";

async function timeShown(cf: CfProperties | undefined, startsAt?: number): Promise<string> {
  const world = await createWorld();
  if (startsAt !== undefined) {
    world.manifest = [{ ...EVENT, startsAt }];
    world.drip = { state: "scheduled", segments: [], committed: 0, serving: 0, startsAt };
  }
  const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(60) });
  const init = { headers: { ...PAGE_VIEW, Cookie }, ...(cf === undefined ? {} : { cf }) };
  const html = await (await world.get("/events/demo", init)).text();
  return [...html.matchAll(/<dd>([^<]*)<\/dd>/g)][1]?.[1] ?? "";
}

describe("AO-02: a time that the server writes names its zone", () => {
  test("the visitor's, where the platform knows it", async () => {
    expect(await timeShown({ timezone: "Europe/Berlin" })).toMatch(
      /^\d{1,2}:\d\d:\d\d\s[AP]M GMT\+[12]$/,
    );
  });
  test.each([undefined, {}, { timezone: "Atlantis/Center" }])("else UTC: %j", async (cf) => {
    expect(await timeShown(cf)).toMatch(/^\d{1,2}:\d\d:\d\d\s[AP]M UTC$/);
  });
  test("with the day when it is not near", async () => {
    const at = await timeShown({ timezone: "America/New_York" }, NOW + 7 * 86_400_000);
    expect(at).toMatch(/^[A-Z][a-z]{2} \d{1,2}, 20\d\d, \d{1,2}:\d\d\s[AP]M E[SD]T$/);
  });
});
