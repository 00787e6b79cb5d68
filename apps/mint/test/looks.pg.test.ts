import { afterAll, beforeAll, expect, it } from "vitest";
import { localMint, type LocalMint } from "./support/service.ts";
import { payload } from "./support/world.ts";

let mint: LocalMint;

beforeAll(async () => {
  mint = await localMint();
  await mint.client.create();
});
afterAll(() => mint.stop());

const GOOD = {
  logo: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9"/></svg>'.replaceAll(
    " ",
    "%20",
  ),
  logoAlt: "The Spring Hall",
  colours: { light: { accent: "#8a1c4a", paper: "#fff8f0", ink: "#2a1a10" } },
  texts: { en: { under: "12 May, Vienna" }, de: { under: "12. Mai, Wien" } },
  template: "<p class='large'>{{logo}}{{title}}</p>{{room}}<p>Doors open at 7",
};
const KEPT = {
  ...GOOD,
  template: '<p class="large">{{logo}}{{title}}</p>{{room}}<p>Doors open at 7</p>',
};
const BAD = {
  logo: "https://spy.example/logo.png",
  colours: { light: { ink: "#cccccc" }, dark: { accent: "teal" } },
  texts: { en: { waiting: "a\nb" }, tlh: { ended: "x" } },
  template: "<script>alert(1)</script>",
};

const looksOf = async (event: string) => {
  const { events } = payload((await mint.client.ask("GET", "/v1/manifest")).body) as {
    events: { event: string; looks?: unknown }[];
  };
  return events.find((entry) => entry.event === event)?.looks;
};

async function patch(looks: unknown, path = "/spring", method = "PATCH") {
  const { headers } = await mint.client.admin("GET", "/spring");
  const match = { "If-Match": headers.get("etag") ?? "" };
  return mint.client.admin(method, path, { body: { looks }, headers: match });
}

it("looks are kept as they were checked, shown, published, changed while the sale runs, and taken away", async () => {
  const created = await mint.client.create({ event: "dressed", looks: GOOD });
  expect([created.status, created.body.looks]).toEqual([201, KEPT]);
  expect(await looksOf("dressed")).toEqual(KEPT);
  expect(await looksOf("spring")).toBeUndefined();
  const changed = await patch(GOOD);
  expect([changed.status, changed.body.looks]).toEqual([200, KEPT]);
  expect(await looksOf("spring")).toEqual(KEPT);
  // What was read can be sent again.
  expect((await patch(changed.body.looks)).body.looks).toEqual(KEPT);
  expect((await patch({ colours: GOOD.colours })).body.looks).toEqual({ colours: GOOD.colours });
  expect((await patch({})).status).toBe(200);
  expect(await looksOf("spring")).toBeUndefined();
});

it("bad ones are refused with everything that is wrong, beside what else is; nothing is half-applied", async () => {
  const { body: before } = await mint.client.admin("GET", "/spring");
  const created = await mint.client.create({ event: "bad", looks: BAD, ratePerMinute: 0 });
  expect(created.status).toBe(422);
  const fields = (answer: typeof created) =>
    answer.body.errors.map(({ field }: { field: string }) => field).toSorted();
  expect(fields(created)).toEqual([
    "looks.colours.dark.accent",
    "looks.texts.en.waiting",
    "looks.texts.tlh",
    "ratePerMinute",
  ]);
  const { texts: _texts, ...formed } = { ...BAD, colours: { light: { ink: "#cccccc" } } };
  const wanted = [
    "looks.colours.light.ink",
    "looks.logo",
    "looks.logoAlt",
    "looks.template",
    "looks.template",
  ];
  for (const answer of [
    await mint.client.create({ event: "bad", looks: formed }),
    await patch(formed),
    await patch(formed, "/spring/preview", "POST"),
  ]) {
    expect([answer.status, fields(answer)]).toEqual([422, wanted]);
    expect(JSON.stringify(answer.body)).not.toMatch(/spy|<script/);
  }
  const mixed = await mint.client.create({ event: "bad", looks: formed, ratePerMinute: 0 });
  expect(fields(mixed)).toEqual([...wanted, "ratePerMinute"]);
  expect((await mint.client.admin("GET", "/bad")).status).toBe(404);
  expect((await mint.client.admin("GET", "/spring")).body.version).toBe(before.version);
  const long = await patch({ template: "x".repeat(10_000) });
  expect([long.status, fields(long)]).toEqual([422, ["looks.template"]]);
});

it("a preview of looks says what they would be", async () => {
  const { status, body } = await patch(GOOD, "/spring/preview", "POST");
  expect(status).toBe(200);
  expect(body.changes).toMatchObject([{ field: "looks", after: KEPT }]);
  expect(await looksOf("spring")).toBeUndefined();
});
