/**
 * Law 10: a request that does not hold a rule's condition is answered as if the rule were not there, whatever its path's
 * spelling, method, headers and query. The run's seed repeats it.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { epochSeconds } from "@vestibule/kernel/units";
import { signService } from "@vestibule/token/sign-service";
import { EVENT, ISSUER, type World, createWorld, newKey } from "./world.ts";

const NETWORK = "192.0.2.0/24";
const RULES = [
  { rule: 0, paths: ["/events/demo/hook", "/events/demo/hooks/*"], services: ["payments"] },
  { rule: 1, paths: ["/events/demo/probe"], methods: ["GET", "HEAD"], networks: [NETWORK] },
];

const segment = fc.constantFrom(
  ...["events", "demo", "hook", "hooks", "probe", "x", "..", ".", "", "%2e%2e", "Demo", "hook;a"],
  ...["pro%62e", "%70robe", "hook.", "hook%20", "h%6fok", "%2568ook", "ho%c1%afk", "%u0068ook"],
);
const slash = fc.constantFrom("/", "/", "/", "/", "//", "\\", "%2f", "/./", "/x/../");
const path = fc.oneof(
  fc.constantFrom("/events/demo/hook", "/events/demo/hooks/1", "/events/demo/probe"),
  fc
    .tuple(
      fc.constantFrom("/events/demo", "/events/demo/hook", "/events/demo/probe", ""),
      fc.array(fc.tuple(slash, segment), { minLength: 1, maxLength: 3 }),
    )
    .map(([start, rest]) => (start === "" ? "/" : start) + rest.flat().join("")),
);
const method = fc.constantFrom("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH");

/** Addresses that are in no network of the rules, or none at all. */
const address = fc.constantFrom(
  ...["198.51.100.1", "192.0.3.7", "192.0.2.7, 198.51.100.1", "198.51.100.1, 192.0.2.7"],
  ...["192.0.2.07", "192.0.2.7:80", "[::ffff:192.0.2.7]", "::192.0.2.7", "64:ff9b::192.0.2.7"],
  ...["192.0.2", "3221225991", "0xc0.0.2.7", "192.0.2.7/24", "192.0.2.7%eth0", "unknown"],
);
const CLAIMS_OF_ADDRESS = ["X-Forwarded-For", "X-Real-IP", "True-Client-IP", "X-Client-IP"];
const claims = fc.dictionary(
  fc.constantFrom(...CLAIMS_OF_ADDRESS, "Forwarded", "CF_Connecting_IP", "CF-Connecting-IPv6"),
  fc.constantFrom("192.0.2.7", "for=192.0.2.7"),
  { maxKeys: 3 },
);
const override = fc.dictionary(
  fc.constantFrom("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"),
  fc.constantFrom("GET", "POST"),
  { maxKeys: 1 },
);

interface Asked {
  readonly path: string;
  readonly method: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Tokens that are good for nothing here. */
async function badTokens(world: World): Promise<readonly string[]> {
  const second = Math.floor(world.now / 1000);
  const claimsOf = (name: string, event: string) => ({
    ...{ issuer: ISSUER, event, name, jti: `${"0".repeat(42)}A` },
    ...{ iat: epochSeconds(second - 600), exp: epochSeconds(second + 600) },
  });
  const over = { ...claimsOf("payments", "demo"), exp: epochSeconds(second - 60) };
  const good = await signService(world.key, claimsOf("payments", "other"));
  return [
    await signService((await newKey()).key, claimsOf("payments", "demo")),
    await signService(world.key, claimsOf("refunds", "demo")),
    await signService(world.key, over),
    await world.admission(),
    ...[good, `${good}, ${good}`, good.toLowerCase(), "a.b.c", "payments", ""],
  ];
}

async function worldOf(rules: Partial<ManifestEvent>): Promise<World> {
  const world = await createWorld({ config: { trustsClientAddress: true } });
  world.manifest = [{ ...EVENT, ...rules }];
  return world;
}

/** What the origin got of it: method, path, query. */
async function reaches(world: World, asked: Asked): Promise<string | undefined> {
  const before = world.toOrigin().length;
  const init = { method: asked.method, headers: asked.headers };
  const response = await world.get(asked.path + asked.query, init);
  await response.text();
  const sent = world.toOrigin()[before];
  return sent === undefined ? undefined : `${sent.method} ${sent.url}`;
}

/** @param tokens that the requests show */
function requests(tokens: readonly string[]): fc.Arbitrary<Asked> {
  const token = fc.constantFrom(...tokens);
  const query = fc.oneof(
    fc.constant(""),
    fc
      .array(fc.tuple(fc.constantFrom("?", "&", "&a="), token), { maxLength: 2 })
      .map((parts) =>
        parts
          .map(([start, text], at) => `${at === 0 ? "?" : start}vestibule-service=${text}`)
          .join(""),
      ),
  );
  return fc
    .tuple(path, method, query, fc.option(token), fc.option(address), claims, override)
    .map(([path, method, query, shown, from, claimed, over]) => ({
      ...{ path, method, query },
      headers: {
        ...{ Accept: "application/json", ...claimed, ...over },
        ...(shown === null ? {} : { "Vestibule-Service": shown }),
        ...(from === null ? {} : { "CF-Connecting-IP": from }),
      },
    }));
}

const RUNS = 1_000;

test("law 10: without its condition a rule is not there", async () => {
  const [ruled, bare] = [
    await worldOf({ bypass: [], conditionalBypass: RULES }),
    await worldOf({ bypass: [] }),
  ];
  let shut = 0;
  const tokens = await badTokens(ruled);
  await fc.assert(
    fc.asyncProperty(requests(tokens), async (asked) => {
      // What is open anyway may be forwarded: as it is where there are no rules.
      const open = await reaches(bare, asked);
      const found = await reaches(ruled, asked);
      if (found === undefined) shut += 1;
      expect(found).toBe(open);
    }),
    { numRuns: RUNS },
  );
  expect(shut).toBeGreaterThan(RUNS / 4);
  expect(await (await ruled.get("/_vestibule/health")).json()).toMatchObject({ exempted: {} });
});

test("canary: rules whose conditions got lost on the way are found out by the same requests", async () => {
  const [lost, bare] = [
    await worldOf({
      bypass: RULES.map(({ paths, methods }) => ({ paths, ...(methods && { methods }) })),
    }),
    await worldOf({ bypass: [] }),
  ];
  const tokens = await badTokens(lost);
  let opened = 0;
  await fc.assert(
    fc.asyncProperty(requests(tokens), async (asked) => {
      const [found, open] = [await reaches(lost, asked), await reaches(bare, asked)];
      if (found !== undefined && open === undefined) opened += 1;
    }),
    { numRuns: RUNS },
  );
  expect(opened).toBeGreaterThan(0);
});
