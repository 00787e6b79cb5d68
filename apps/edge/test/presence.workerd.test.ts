/** Events that ask whether their fans are there: what a location asks for, tells, and hands on to the mint. */
import { describe, expect, test } from "vitest";
import {
  EVENT,
  LIFETIME_SECONDS,
  NOW,
  OWN_PAGE,
  PAGE_VIEW,
  VISITOR_A,
  type World,
  cookies,
  createWorld,
  refusal,
} from "./world.ts";

const CLAIM = "/_vestibule/events/demo/admissions";
const ME = "/_vestibule/events/demo/me";
const NUMBER = 50;
/** Number 50 of the statement's 100, one a second, from 10 s ago. */
const OPENS_AT = NOW - 10_000 + (NUMBER - 1) * 1_000;
const CLAIM_BY = OPENS_AT + EVENT.claimWindowSeconds * 1_000;
const TIMES = {
  opensAt: OPENS_AT,
  closesAt: OPENS_AT + LIFETIME_SECONDS * 1_000,
  claimBy: CLAIM_BY,
};
/** As it stands, whatever the time is. */
const SEGMENTS = [{ base: 1, count: 100, from: NOW - 10_000, until: NOW + 90_000 }];
const TYPE = "urn:vestibule:problem:";

async function asking(presence: "auto" | "confirm" = "confirm"): Promise<World> {
  const world = await createWorld();
  world.drip = { segments: SEGMENTS, ...(presence === "confirm" ? { presence } : {}) };
  return world;
}

async function fan(world: World, more: Record<string, string> = {}) {
  const ticket = await world.ticket(NUMBER);
  return { ...OWN_PAGE, Cookie: cookies({ visitor: VISITOR_A, ticket, ...more }) };
}

/** A claim of a script, with this JSON. */
async function claim(world: World, body?: string, type = "application/json"): Promise<Response> {
  const headers = {
    ...(await fan(world)),
    ...(body === undefined ? {} : { "Content-Type": type }),
  };
  return world.post(CLAIM, { headers, ...(body === undefined ? {} : { body }) });
}

/** The button of the page without JavaScript. */
async function pressed(world: World, fields: Record<string, string> = { confirmed: "true" }) {
  const body = new URLSearchParams({ return: "/events/demo?a=b", ...fields }).toString();
  const type = { "Content-Type": "application/x-www-form-urlencoded" };
  return world.post(CLAIM, { headers: { ...PAGE_VIEW, ...(await fan(world)), ...type }, body });
}

const asked = (world: World) => world.grants().map(({ body }) => JSON.parse(body) as object);

describe("a claim of a committed slot", () => {
  test.each([undefined, "", "{}", '{"confirmed":false}', '{"other":1}'])(
    "that does not say it (%j): 409 with what to do and until when, and no mint is asked",
    async (body) => {
      const world = await asking();
      const answer = await claim(world, body);
      expect(answer.status).toBe(409);
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(await answer.json()).toMatchObject({
        type: `${TYPE}confirm-presence`,
        detail: expect.stringContaining("confirmed: true") as string,
        ...TIMES,
      });
      expect(asked(world)).toEqual([]);
    },
  );

  test("that says it is handed on with it, before the turn too", async () => {
    const world = await asking();
    expect((await claim(world, '{"confirmed":true}')).status).toBe(201);
    expect(asked(world)).toMatchObject([{ visitor: VISITOR_A, confirmed: true }]);
  });

  test("an app says it in the same way", async () => {
    const world = await asking();
    const ticket = await world.ticket(NUMBER);
    const headers = {
      "Content-Type": "application/json",
      "Vestibule-Visitor": VISITOR_A,
      "Vestibule-Ticket": ticket,
    };
    const without = await world.post(CLAIM, { headers, body: "{}" });
    expect(without.status).toBe(409);
    const answer = await world.post(CLAIM, { headers, body: '{"confirmed":true}' });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toHaveProperty("admission");
  });

  test.each(["{", "null", "[]", '"confirmed"', '{"confirmed":"true"}', '{"confirmed":1}'])(
    "rubbish (%j): 400, and no mint is asked",
    async (body) => {
      const world = await asking();
      const answer = await claim(world, body);
      expect([answer.status, (await answer.json<{ type: string }>()).type]).toEqual([
        400,
        `${TYPE}bad-request`,
      ]);
      expect(asked(world)).toEqual([]);
    },
  );

  test("a body of another kind, or one that is too large, is no word", async () => {
    const world = await asking();
    expect((await claim(world, '{"confirmed":true}', "text/plain")).status).toBe(409);
    const large = JSON.stringify({ confirmed: true, more: "x".repeat(20_000) });
    expect((await claim(world, large)).status).toBe(413);
    expect(asked(world)).toEqual([]);
  });

  test("after the claim window it is the mint's to judge, without a word: it may be claimed already", async () => {
    const world = await asking();
    world.now = (CLAIM_BY + 1) as typeof world.now;
    world.mint = ({ url }) => (url.endsWith("/admissions") ? refusal("slot-over") : undefined);
    expect((await claim(world)).status).toBe(410);
    expect(asked(world)).toHaveLength(1);
    expect(asked(world)[0]).not.toHaveProperty("confirmed");
  });

  test("not committed: 425 as ever, and what the line has passed is the mint's to judge", async () => {
    const world = await asking();
    world.drip = { ...world.drip, segments: [], committed: NUMBER - 1 };
    expect((await claim(world)).status).toBe(425);
    expect(asked(world)).toEqual([]);
    const passed = await asking();
    passed.drip = { ...passed.drip, segments: [] };
    passed.mint = ({ url }) => (url.endsWith("/admissions") ? refusal("too-early") : undefined);
    expect((await claim(passed)).status).toBe(425);
    expect(asked(passed)).toHaveLength(1);
  });

  test("a statement that is older than the mint's mind: its word is handed on, with the times", async () => {
    const world = await asking("auto");
    world.mint = ({ url }) =>
      url.endsWith("/admissions")
        ? Response.json(
            { type: `${TYPE}confirm-presence`, title: "", status: 409, ...TIMES, secret: 1 },
            { status: 409 },
          )
        : undefined;
    const answer = await claim(world);
    expect(answer.status).toBe(409);
    const body = await answer.json();
    expect(body).toMatchObject({ type: `${TYPE}confirm-presence`, ...TIMES });
    expect(body).not.toHaveProperty("secret");
  });

  test("auto: nobody is asked, and a mint that knows nothing of it is not told", async () => {
    const world = await asking("auto");
    for (const body of [undefined, '{"confirmed":true}']) {
      expect((await claim(world, body)).status).toBe(201);
    }
    for (const body of asked(world)) expect(body).not.toHaveProperty("confirmed");
  });
});

describe("without JavaScript", () => {
  const html = async (world: World, more: Record<string, string> = {}) =>
    (
      await world.get("/events/demo?a=b", {
        headers: { ...PAGE_VIEW, ...(await fan(world, more)) },
      })
    ).text();
  const form = (page: string) => /<form[^>]*id="confirm"[^>]*>/.exec(page)?.[0] ?? "none";

  test("a button asks; pressed, the admission is in a cookie; the page then says when, and asks no more", async () => {
    const world = await asking();
    const before = await html(world);
    expect(before).toContain('<main data-state="confirm">');
    expect(form(before)).not.toContain("hidden");
    expect(before).toContain('<button name="confirmed" value="true">I’m here</button>');
    const admission = await world.admission({ number: NUMBER, opensAt: OPENS_AT });
    world.mint = ({ url }) =>
      url.endsWith("/admissions")
        ? Response.json({ ...TIMES, admission }, { status: 201 })
        : undefined;
    const answer = await pressed(world);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/events/demo?a=b"]);
    expect(answer.headers.getSetCookie().join()).toContain(admission);
    expect(asked(world)).toMatchObject([{ confirmed: true }]);

    const after = await html(world, { admission });
    expect(after).toContain('<main data-state="known">');
    expect(form(after)).toContain("hidden");
    expect(after).toContain("You have said that you are here");
    expect(JSON.parse(/id="data"[^>]*>([^<]*)</.exec(after)?.[1] ?? "{}")).toMatchObject({
      claimed: { opensAt: OPENS_AT, closesAt: TIMES.closesAt },
    });
  });

  test("a form without the field is not the word: back to the page, which asks", async () => {
    const world = await asking();
    for (const fields of [{}, { confirmed: "" }, { confirmed: "yes" }]) {
      const answer = await pressed(world, fields);
      expect(answer.status).toBe(303);
    }
    expect(asked(world)).toEqual([]);
  });

  test("from another site it is nobody's word", async () => {
    const world = await asking();
    const headers = {
      ...PAGE_VIEW,
      ...(await fan(world)),
      "Content-Type": "application/x-www-form-urlencoded",
      ...{ "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" },
    };
    const answer = await world.post(CLAIM, { headers, body: "confirmed=true" });
    expect(answer.status).toBe(403);
    expect(asked(world)).toEqual([]);
  });

  test("every mint is away: says so, and the button is still there", async () => {
    const world = await asking();
    world.mint = ({ method, url }) =>
      method === "POST" && url.endsWith("/admissions")
        ? new Response("", { status: 502 })
        : undefined;
    const answer = await pressed(world);
    expect(answer.status).toBe(503);
    const page = await answer.text();
    expect(page).toContain("We cannot reach the line right now");
    expect(form(page)).not.toContain("hidden");
  });

  test("an admission of another slot, as one that a hold has cut, says nothing about this one", async () => {
    const world = await asking();
    const admission = await world.admission({ number: NUMBER, opensAt: OPENS_AT - 1_000 });
    expect(await html(world, { admission })).toContain('<main data-state="confirm">');
  });
});

describe("GET …/me", () => {
  const me = async (world: World, more: Record<string, string> = {}) =>
    (await world.get(ME, { headers: await fan(world, more) })).json();

  test("says that the word is wanted, until when, and no more once it was given", async () => {
    const world = await asking();
    expect(await me(world)).toEqual({ number: NUMBER, state: "confirm", ...TIMES, confirm: true });
    const admission = await world.admission({ number: NUMBER, opensAt: OPENS_AT });
    const known = { number: NUMBER, state: "known", ...TIMES };
    expect(await me(world, { admission })).toEqual({ ...known, admitted: false });
    world.now = OPENS_AT as typeof world.now;
    expect(await me(world, { admission })).toEqual({ ...known, state: "turn", admitted: true });
    expect(await me(world)).toHaveProperty("confirm");
    world.now = (CLAIM_BY + 1) as typeof world.now;
    expect(await me(world)).not.toHaveProperty("confirm");
  });

  test("auto, or no turn yet: not a word of it", async () => {
    const known = { number: NUMBER, state: "known", ...TIMES };
    expect(await me(await asking("auto"))).toEqual(known);
    const world = await asking();
    world.drip = { ...world.drip, segments: [], committed: NUMBER - 1 };
    expect(await me(world)).toMatchObject({ number: NUMBER, state: "near" });
    expect(await me(world)).not.toHaveProperty("confirm");
  });
});

test("the drip says it to everybody, and nothing when nobody is asked", async () => {
  const read = async (world: World) =>
    (await world.get("/_vestibule/events/demo/drip")).json<{ presence?: string }>();
  expect((await read(await asking())).presence).toBe("confirm");
  expect(await read(await asking("auto"))).not.toHaveProperty("presence");
});
