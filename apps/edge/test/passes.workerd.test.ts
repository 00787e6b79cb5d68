/** Passing without a place where a rule's conditions hold, through the whole edge (ADR 18). */
import { expect, test } from "vitest";
import { epochSeconds } from "@vestibule/kernel/units";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { signService } from "@vestibule/token/sign-service";
import { signTime } from "@vestibule/token/sign";
import { EVENT, ISSUER, type World, createWorld, isQuestion, newKey } from "./world.ts";

const HOOK = "/events/demo/hook";
const RULES = [
  { rule: 1, paths: [HOOK], methods: ["POST"], services: ["payments"] },
  { rule: 2, paths: ["/events/demo/probe"], networks: ["192.0.2.0/24", "2001:db8::/32"] },
  { rule: 3, paths: ["/events/demo/both"], networks: ["192.0.2.0/24"], services: ["payments"] },
];
const HERE = { "CF-Connecting-IP": "192.0.2.7" };

async function shop(
  conditionalBypass: (typeof EVENT)["conditionalBypass"] = RULES,
  trustsClientAddress = true,
): Promise<World> {
  const world = await createWorld({ config: { trustsClientAddress } });
  world.manifest = [{ ...EVENT, conditionalBypass }];
  return world;
}

interface Token {
  readonly name: string;
  readonly event: string;
  readonly key: SigningKey;
  readonly exp: number;
}

let made = 0;
async function token(world: World, change: Partial<Token> = {}): Promise<string> {
  const { name = "payments", event = "demo", key = world.key } = change;
  const second = Math.floor(world.now / 1000);
  made += 1;
  return signService(key, {
    ...{ issuer: ISSUER, event, name },
    jti: `${String(made).padStart(42, "0")}A`,
    iat: epochSeconds(second - 10),
    exp: epochSeconds(change.exp ?? second + 3_600),
  });
}

/** Did it reach the origin? */
async function passes(world: World, path: string, init: RequestInit = {}): Promise<boolean> {
  const before = world.toOrigin().length;
  const response = await world.get(path, init);
  await response.text();
  const hasPassed = world.toOrigin().length > before;
  expect(hasPassed || response.status >= 400 || response.status === 204).toBe(true);
  return hasPassed;
}
const post = (headers: Record<string, string> = {}): RequestInit => ({ method: "POST", headers });
const exempted = async (world: World) =>
  (await (await world.get("/_vestibule/health")).json<{ exempted: unknown }>()).exempted;

test("a service passes by its token, in the header or in the query; the origin sees neither", async () => {
  const world = await shop();
  const text = await token(world);
  expect(await passes(world, HOOK, post())).toBe(false);
  expect(await passes(world, HOOK, post({ "Vestibule-Service": text }))).toBe(true);
  const queries = [
    [`?vestibule-service=${text}`, ""],
    [`?a=%20b;c&vestibule-service=${text}&b=2&&c`, "?a=%20b;c&b=2&&c"],
    [
      `?vestibule-service=${text}&vestibule-service=${text}&x=vestibule-service=`,
      "?x=vestibule-service=",
    ],
  ] as const;
  for (const [sent, seen] of queries) {
    expect(await passes(world, HOOK + sent, post())).toBe(true);
    expect(world.toOrigin().at(-1)?.url).toBe(`https://origin.internal${HOOK}${seen}`);
  }
  for (const { url, headers } of world.toOrigin()) {
    expect(url).not.toContain(text);
    expect(JSON.stringify([...headers])).not.toContain("service");
  }
  expect(await exempted(world)).toEqual({ demo: [0, 4] });
});

test("a token opens what its rule names and nothing else, and only as what it is", async () => {
  const world = await shop();
  const good = await token(world);
  const stranger = (await newKey()).key;
  const second = Math.floor(world.now / 1000);
  const shown = (text: string) => post({ "Vestibule-Service": text });
  for (const text of [
    await token(world, { name: "health" }),
    await token(world, { event: "other" }),
    await token(world, { key: stranger }),
    await token(world, { exp: second - 5 }),
    await world.admission(),
    await world.ticket(1),
    `${good}, ${good}`,
    `${good}x`,
    good.slice(0, -2),
    "x".repeat(5_000),
    "..",
    "",
  ]) {
    expect(await passes(world, HOOK, shown(text)), `the token ${text}`).toBe(false);
  }
  expect(await passes(world, "/events/demo", shown(good))).toBe(false);
  expect(await passes(world, "/events/demo/both", shown(good))).toBe(false);
  expect(await passes(world, HOOK, { headers: { "Vestibule-Service": good } })).toBe(false);
  const two = `${HOOK}?vestibule-service=${await token(world)}`;
  expect(await passes(world, two, shown(good)), "two that differ").toBe(false);
  expect(await passes(world, HOOK, shown(good))).toBe(true);
});

test("a network passes by the address that the network says, in any of its spellings, and by no other header", async () => {
  const world = await shop();
  const from = (address: string, more: Record<string, string> = {}) =>
    passes(world, "/events/demo/probe", { headers: { "CF-Connecting-IP": address, ...more } });
  for (const address of ["192.0.2.0", "192.0.2.255", "::ffff:192.0.2.9", "2001:DB8::1"])
    expect(await from(address), `from ${address}`).toBe(true);
  for (const address of [
    ...["192.0.3.0", "2001:db9::1", "192.0.2.7, 10.0.0.1", "10.0.0.1, 192.0.2.7", "192.0.2.07"],
    ...["192.0.2.7:443", "[2001:db8::1]", "2001:db8::1%eth0", "3221225991", "unknown", ""],
  ])
    expect(await from(address), `from ${address}`).toBe(false);
  for (const name of [
    "X-Forwarded-For",
    "X-Real-IP",
    "True-Client-IP",
    "Forwarded",
    "CF_Connecting_IP",
  ])
    expect(await from("10.0.0.1", { [name]: "192.0.2.7" }), `said by ${name}`).toBe(false);
  expect(await passes(world, "/events/demo/probe")).toBe(false);
});

test("the address by which everybody's Workers come is in no network, however wide that is", async () => {
  const world = await shop([
    { rule: 0, paths: ["/events/demo/probe"], networks: ["2a06:98c0::/29"] },
  ]);
  const from = (address: string) =>
    passes(world, "/events/demo/probe", { headers: { "CF-Connecting-IP": address } });
  expect(await from("2a06:98c0:3600::102")).toBe(true);
  expect(await from("2a06:98c0:3600::103")).toBe(false);
  expect(await from("2A06:98C0:3600:0:0:0:0:103")).toBe(false);
});

test("where the address may be forged, rules that name networks open nothing, and health says so", async () => {
  const world = await shop(RULES, false);
  expect(await passes(world, "/events/demo/probe", { headers: HERE })).toBe(false);
  const both = { ...HERE, "Vestibule-Service": await token(world) };
  expect(await passes(world, "/events/demo/both", { headers: both })).toBe(false);
  const health = await (await world.get("/_vestibule/health")).json();
  expect(health).toMatchObject({ trustsClientAddress: false, exempted: {} });
});

test("a rule that names network and service asks for both", async () => {
  const world = await shop();
  const shown = { "Vestibule-Service": await token(world) };
  expect(await passes(world, "/events/demo/both", { headers: shown })).toBe(false);
  expect(await passes(world, "/events/demo/both", { headers: HERE })).toBe(false);
  expect(await passes(world, "/events/demo/both", { headers: { ...shown, ...HERE } })).toBe(true);
  expect(await exempted(world)).toEqual({ demo: [0, 0, 0, 1] });
});

test("taken out of the rule, over, or its key revoked: a token that was good a moment ago passes no more", async () => {
  const world = await shop();
  const second = Math.floor(world.now / 1000);
  const init = post({ "Vestibule-Service": await token(world, { exp: second + 60 }) });
  const again = () => passes(world, HOOK, init);
  expect(await again()).toBe(true);
  world.now = (world.now + 64_999) as never;
  expect(await again(), "within the tolerance").toBe(true);
  world.now = (world.now + 1) as never;
  expect(await again(), "over").toBe(false);

  const other = await token(world);
  const later = () => passes(world, HOOK, post({ "Vestibule-Service": other }));
  expect(await later()).toBe(true);
  world.manifest = [{ ...EVENT, conditionalBypass: [{ ...RULES[0]!, services: ["others"] }] }];
  world.seq += 1;
  world.now = (world.now + 15_001) as never;
  expect(await later(), "taken out").toBe(false);
  world.manifest = [{ ...EVENT, conditionalBypass: RULES }];
  world.seq += 1;
  world.now = (world.now + 15_001) as never;
  expect(await later()).toBe(true);
  const next = await newKey();
  world.keys = [next.jwk];
  (world as { key: SigningKey }).key = next.key;
  world.seq += 1;
  world.now = (world.now + 80_000) as never;
  expect(await later(), "its key revoked").toBe(false);
});

test("a location whose clock is surely wrong takes no token; a network does not depend on it", async () => {
  const world = await createWorld({ config: { trustsClientAddress: true }, clockOffMs: 60_000 });
  world.manifest = [{ ...EVENT, conditionalBypass: RULES }];
  await world.get("/_vestibule/health");
  await world.settle();
  const shown = post({ "Vestibule-Service": await token(world) });
  expect(await passes(world, HOOK, shown)).toBe(false);
  expect(await passes(world, "/events/demo/probe", { headers: HERE })).toBe(true);
});

test("rubbish asks no mint more than once a cool-down, and nothing of it is kept", async () => {
  const world = await shop();
  await passes(world, HOOK, post());
  await world.settle();
  const strangers = [(await newKey()).key, (await newKey()).key];
  const before = world.sent.length;
  for (let count = 0; count < 40; count += 1) {
    const key = strangers[count % 2];
    await passes(world, HOOK, post({ "Vestibule-Service": await token(world, { key: key! }) }));
  }
  await world.settle();
  const asked = world.sent.slice(before).filter(({ url }) => url.includes("jwks"));
  expect(asked.length).toBeLessThanOrEqual(1);
});

test("a rule for a method takes the headers away that would name another one", async () => {
  const world = await shop();
  // Servers behind a gateway interface read `_` as `-`.
  const names = [
    "X-HTTP-Method-Override",
    "X_HTTP_METHOD_OVERRIDE",
    "X-Http_Method",
    "x_method-override",
  ];
  const text = await token(world);
  // As texts, and copied where text would not say it all.
  for (const more of [{}, { "Set-Cookie": "a=1" }]) {
    const headers = Object.fromEntries(names.map((name) => [name, "DELETE"]));
    expect(
      await passes(world, HOOK, post({ "Vestibule-Service": text, ...headers, ...more })),
    ).toBe(true);
    const seen = [...(world.toOrigin().at(-1)?.headers.keys() ?? [])];
    expect(seen.filter((name) => name.includes("method"))).toEqual([]);
  }
});

test("the token in the address of an admitted fan, or of somebody who waits, goes nowhere", async () => {
  const world = await shop();
  const text = await token(world, { name: "health" });
  const query = `?a=1&vestibule-service=${text}`;
  const admitted = {
    "Vestibule-Admission": await world.admission(),
    "Vestibule-Visitor": "A".repeat(43),
  };
  expect(await passes(world, `/events/demo${query}`, { headers: admitted })).toBe(true);
  expect(world.toOrigin().at(-1)?.url).toBe("https://origin.internal/events/demo?a=1");
  const page = await world.get(`/events/demo${query}`, { headers: { Accept: "text/html" } });
  const html = await page.text();
  expect(html).toContain("Spring concert");
  expect(html).not.toContain(text);
});

test("a rule with a condition that this location does not know opens nothing; nor does one without any", async () => {
  const world = await shop([
    { rule: 0, paths: [HOOK], services: ["payments"], hours: ["9-17"] },
    { rule: 1, paths: ["/events/demo/probe"] },
    { rule: 2, paths: ["/events/demo/odd"], networks: ["192.0.2.7/24", "rubbish"] },
  ]);
  const headers = { ...HERE, "Vestibule-Service": await token(world) };
  for (const path of [HOOK, "/events/demo/probe", "/events/demo/odd"])
    expect(await passes(world, path, { method: "POST", headers }), `at ${path}`).toBe(false);
});

test("what passes, by any rule, is told to the mint with the questions for the time, and once", async () => {
  const world = await shop();
  world.mint = ({ url, body }) => {
    if (!isQuestion(url)) return undefined;
    const { nonce } = JSON.parse(body) as { nonce: string };
    const signed = signTime(world.key, { issuer: ISSUER, nonce, at: world.now });
    return signed.then((time) => Response.json({ time, takes: ["passes"] }));
  };
  const headers = HERE;
  expect(await passes(world, "/events/demo/logo.svg")).toBe(true);
  expect(await passes(world, "/events/demo/probe", { headers })).toBe(true);
  expect(await passes(world, "/events/demo/probe", { headers })).toBe(true);
  for (let question = 0; question < 3; question += 1) {
    world.now = (world.now + 40_000) as never;
    await world.get("/events/demo");
    await world.settle();
  }
  const told = world.sent
    .filter(({ url }) => isQuestion(url))
    .flatMap(({ body }) => (JSON.parse(body) as { passes?: unknown[] }).passes ?? []);
  expect(told).toEqual([
    { event: "demo", rule: 0, count: 1 },
    { event: "demo", rule: 2, count: 2 },
  ]);
});

test.each<[string, Partial<typeof EVENT>]>([
  ["there are no rules any more", { bypass: [] }],
  ["a rule opens the path to everybody", { bypass: [{ paths: [HOOK], methods: ["GET"] }] }],
])("a token in the address is nobody's to see where %s", async (_why, rules) => {
  const world = await createWorld();
  world.manifest = [{ ...EVENT, ...rules }];
  const text = await token(world);
  const query = `?a=1&vestibule-service=${text}&b`;
  const admitted = {
    "Vestibule-Admission": await world.admission(),
    "Vestibule-Visitor": "A".repeat(43),
  };
  expect(await passes(world, HOOK + query, { headers: admitted })).toBe(true);
  expect(world.toOrigin().at(-1)?.url).toBe(`https://origin.internal${HOOK}?a=1&b`);
  const page = await world.get(`/events/demo${query}`, { headers: { Accept: "text/html" } });
  expect(await page.text()).not.toContain(text);
  // A path of no event passes as it is, byte for byte.
  expect(await passes(world, `/about${query}`)).toBe(true);
  expect(world.toOrigin().at(-1)?.url).toBe(`https://origin.internal/about${query}`);
});
