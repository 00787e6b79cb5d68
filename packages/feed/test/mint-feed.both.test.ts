import { beforeAll, describe, expect, test } from "vitest";
import type { DripClaims, ManifestEvent } from "@vestibule/contracts/statements";
import { type EpochMs, epochMs, epochSeconds } from "@vestibule/kernel/units";
import { ok, refuse } from "@vestibule/kernel/result";
import { type SigningKey, importPrivateJwk } from "@vestibule/keys/signing-key";
import type { PublicJwk } from "@vestibule/keys/public-key";
import { signDrip, signManifest } from "@vestibule/token/sign";
import { createFetchText, sleep } from "../src/fetch-text.system.ts";
import { KEYS_TRUST_MS } from "../src/limits.ts";
import { type MintFeed, createMintFeed } from "../src/mint-feed.ts";
import type { CachedText, FetchRefusal, FetchText } from "../src/ports.ts";

const NOW = epochMs(1_800_000_000_000);
const ISSUER = "https://mint.example";
type Pair = { signingKey: SigningKey; publicJwk: PublicJwk };
let pair: Pair;

async function newPair(): Promise<Pair> {
  const made = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const { privateKey } = made;
  const read = await importPrivateJwk(await crypto.subtle.exportKey("jwk", privateKey));
  if (!read.ok) throw new Error(read.refusal);
  return read.value;
}
beforeAll(async () => {
  pair = await newPair();
});

const jwks = (...keys: PublicJwk[]) => JSON.stringify({ keys });
const drip = (seq: number, by: SigningKey, at: number = NOW, over: Partial<DripClaims> = {}) =>
  signDrip(by, {
    ...{ iss: ISSUER, aud: "demo", iat: Math.floor(at / 1000), exp: Math.floor(at / 1000) + 3_600 },
    ...{ at, seq, state: "open", segments: [], serving: 0, committed: 0, skips: [], issued: 0 },
    ...{ rate: 60, notice: "", cuts: [], endsAt: at + 9_999_999, ...over },
  });
const manifest = (seq: number, by: SigningKey) => {
  const iat = epochSeconds(NOW / 1000);
  return signManifest(by, { iss: ISSUER, iat, exp: iat + 604_800, seq, events: [] });
};

/** Instead of a wait: everything else has its turn. */
const turn = () => sleep(0);

/** One feed over mints that answer what `answers` says, by path; every URL asked is kept. */
function world(answers: Record<string, string | FetchText>, cache?: Map<string, CachedText>) {
  const asked: string[] = [];
  const alarms: string[] = [];
  const fetchText: FetchText = async (request) => {
    asked.push(request.url);
    const { pathname } = new URL(request.url);
    const answer = answers[request.url] ?? answers[pathname];
    if (answer === undefined) return refuse({ reason: "unreachable" });
    return typeof answer === "string" ? ok({ text: answer, roundTripMs: 1 }) : answer(request);
  };
  const feed = createMintFeed({
    mintUrls: ["https://one.example/", "https://two.example"],
    ...{ issuer: ISSUER, skewSeconds: 5, fetchText, sleep: turn },
    alarm: ({ thing, reason }) => void alarms.push(`${thing} ${reason}`),
    ...(cache === undefined
      ? {}
      : {
          cache: {
            get: (key) => Promise.resolve(cache.get(key)),
            put: (key, entry) => Promise.resolve(void cache.set(key, entry)),
          },
        }),
  });
  return { feed, asked, alarms, answers };
}
const answering =
  (refusal: FetchRefusal): FetchText =>
  () =>
    Promise.resolve(refuse(refusal));
const ec = (kid: string) => ({ kty: "EC", crv: "P-256", x: "AA", y: "AA", kid });
const JWKS = "/.well-known/jwks.json";
const DRIP = "/v1/events/demo/drip";
const later = (ms: number): EpochMs => epochMs(NOW + ms);
const seqOf = (feed: MintFeed) => feed.drip("demo")?.claims.seq;

test("law 2: nothing known is replaced by something older, whatever the order of answers", async () => {
  const { feed, answers } = world({ [JWKS]: jwks(pair.publicJwk) });
  for (const [seq, expected] of [
    [5, 5],
    [4, 5],
    [7, 7],
    [6, 7],
  ] as const) {
    answers[DRIP] = await drip(seq, pair.signingKey);
    await feed.refresh("drip:demo", NOW);
    expect(seqOf(feed)).toBe(expected);
  }
});

test("law 2: the serving number never falls, also when the next leader's clock is behind", async () => {
  const { feed, answers } = world({ [JWKS]: jwks(pair.publicJwk) });
  for (const [seq, serving, expected] of [
    [5, 40, 40],
    [9, 38, 40],
    [10, 41, 41],
  ] as const) {
    answers[DRIP] = await drip(seq, pair.signingKey, NOW, { serving });
    await feed.refresh("drip:demo", NOW);
    expect(feed.drip("demo")?.claims).toMatchObject({ seq, serving: expected });
  }
});

test("a manifest signed anew: what it says as before of an event is the same object, and anything else another one", async () => {
  const { feed, answers } = world({ [JWKS]: jwks(pair.publicJwk) });
  const event = (name: string, title: string): ManifestEvent => ({
    ...{ event: name, title, hosts: ["shop.example"], paths: ["/x*"], bypass: [], homePath: "/x" },
    ...{ lifetimeSeconds: 600, claimWindowSeconds: 180, holdingStatus: 200, accent: "#000000" },
    endsAt: NOW + 9_999_000,
  });
  const told = async (seq: number, titles: readonly [string, string]) => {
    const iat = epochSeconds(NOW / 1000 + seq);
    const events = titles.map((title, i) => event(`e-${i}`, title));
    const claims = { iss: ISSUER, iat, exp: iat + 604_800, seq, events };
    answers["/v1/manifest"] = await signManifest(pair.signingKey, claims);
    expect(await feed.refresh("manifest", later(seq * 1_000))).toBe("fresh");
    expect(feed.manifest()?.seq).toBe(seq);
    return feed.manifest()?.events ?? [];
  };
  const [one, two] = await told(1, ["One", "Two"]);
  expect((await told(2, ["One", "Two"])).map((found) => found === one || found === two)).toEqual([
    ...[true, true],
  ]);
  const changed = await told(3, ["One", "Another"]);
  expect(changed[0]).toBe(one);
  expect(changed[1]).toMatchObject({ event: "e-1", title: "Another" });
});

test("the same statement signed again is the newer one; an unchanged one keeps its identity", async () => {
  const { feed, answers } = world({ [JWKS]: jwks(pair.publicJwk) });
  answers[DRIP] = await drip(5, pair.signingKey);
  await feed.refresh("drip:demo", NOW);
  const first = feed.drip("demo");
  await feed.refresh("drip:demo", later(2_000));
  expect(feed.drip("demo")).toBe(first);
  answers[DRIP] = await drip(5, pair.signingKey, NOW + 3_000);
  await feed.refresh("drip:demo", later(3_000));
  expect(feed.drip("demo")?.claims.at).toBe(NOW + 3_000);
});

describe("KR-05: rubbish changes nothing, and the next mint is asked", () => {
  test.each([
    ["an empty set", '{"keys":[]}'],
    ["an HTML page", "<html>error</html>"],
    ["cut-off JSON", '{"keys":[{"kty":"O'],
    ["no keys member", "{}"],
    ["nothing", ""],
    ["a body of 10 MB", answering({ reason: "too-large" })],
    ["a redirect to another host", answering({ reason: "redirect" })],
    ["304, with no copy in hand", answering({ reason: "status", status: 304 })],
    ["nothing for as long as is waited", answering({ reason: "timeout" })],
  ])("%s: the last good set stays, and somebody is told", async (_title, answer) => {
    const { feed, answers, alarms } = world({ [JWKS]: jwks(pair.publicJwk) });
    await feed.refresh("keys", NOW);
    expect(alarms).toEqual([]);
    answers[JWKS] = answer;
    expect(await feed.refresh("keys", later(60_000))).toBe("kept");
    expect([...(feed.keys(later(60_000))?.keys() ?? [])]).toEqual([pair.publicJwk.kid]);
    expect(alarms).toEqual([expect.stringMatching(/^keys /), expect.stringMatching(/^keys /)]);
    // Whoever knows nothing yet learns nothing from it.
    const fresh = world({ [JWKS]: answer });
    expect(await fresh.feed.whenKnown("keys", NOW)).toBe(false);
    expect(fresh.feed.keys(NOW)).toBeUndefined();
  });
  test.each([
    [
      "KR-03: two keys under one kid",
      (other: PublicJwk) => [{ ...other, kid: pair.publicJwk.kid }],
    ],
    ["KR-03: a key of another kind under our kid", () => [ec(pair.publicJwk.kid)]],
    ["a private key, by mistake", (other: PublicJwk) => [{ ...other, d: other.x }]],
    ["a private key of another kind", () => [{ ...ec("p"), d: "AA" }]],
    ["more keys than a set may have", () => Array.from({ length: 16 }, (_, at) => ec(`p${at}`))],
  ])("%s: the last good set stays, and somebody is told", async (_title, more) => {
    const other = await newPair();
    const { feed, answers, alarms } = world({ [JWKS]: jwks(pair.publicJwk, other.publicJwk) });
    await feed.refresh("keys", NOW);
    answers[JWKS] = JSON.stringify({ keys: [pair.publicJwk, ...more(other.publicJwk)] });
    expect(await feed.refresh("keys", later(60_000))).toBe("kept");
    expect(feed.keys(later(60_000))?.size).toBe(2);
    expect(alarms.length).toBeGreaterThan(0);
    // In the other order, too.
    answers[JWKS] = JSON.stringify({ keys: [...more(other.publicJwk), pair.publicJwk] });
    expect(await feed.refresh("keys", later(120_000))).toBe("kept");
    expect(feed.keys(later(120_000))?.size).toBe(2);
  });
  test("one good and one malformed entry: the whole set is refused", async () => {
    const { feed, answers } = world({ [JWKS]: jwks(pair.publicJwk) });
    await feed.refresh("keys", NOW);
    const other = await newPair();
    answers[JWKS] = jwks(other.publicJwk, { ...other.publicJwk, x: "AAAA" });
    await feed.refresh("keys", later(60_000));
    expect(feed.keys(later(60_000))?.has(pair.publicJwk.kid)).toBe(true);
  });
  test("TV-01: a newer set that names a key's algorithm otherwise costs no key, and both names are read", async () => {
    const { feed, answers } = world({});
    const named = [undefined, "Ed25519", "EdDSA", "Ed25519"] as const;
    for (const [seq, alg] of named.entries()) {
      answers[JWKS] = JSON.stringify({ seq, keys: [{ ...pair.publicJwk, alg }] });
      expect(await feed.refresh("keys", later(seq * 60_000))).toBe("fresh");
      for (const name of ["Ed25519", "EdDSA"] as const) {
        answers[DRIP] = await drip(
          seq * 2 + (name === "EdDSA" ? 1 : 0),
          { ...pair.signingKey, alg: name },
          later(seq * 60_000),
        );
        expect(await feed.refresh("drip:demo", later(seq * 60_000))).toBe("fresh");
      }
    }
  });
  test("the second mint answers for the first, which is then asked last for a while", async () => {
    const { feed, asked } = world({ [`https://two.example${JWKS}`]: jwks(pair.publicJwk) });
    expect(await feed.refresh("keys", NOW)).toBe("fresh");
    expect(feed.mints.urls(later(1))).toEqual(["https://two.example", "https://one.example"]);
    expect(feed.mints.urls(later(20_000))[0]).toBe("https://one.example");
    expect(asked).toHaveLength(2);
  });
  test("fetched keys are relied on for the stated time, and no longer", async () => {
    const { feed } = world({ [JWKS]: jwks(pair.publicJwk) });
    await feed.refresh("keys", NOW);
    expect(feed.keys(later(KEYS_TRUST_MS))).toBeDefined();
    expect(feed.keys(later(KEYS_TRUST_MS + 1))).toBeUndefined();
  });
  test("a JWKS with a lower seq than the one in hand is older", async () => {
    const other = await newPair();
    const { feed, answers } = world({});
    answers[JWKS] = JSON.stringify({ keys: [pair.publicJwk], seq: 2 });
    await feed.refresh("keys", NOW);
    answers[JWKS] = JSON.stringify({ keys: [other.publicJwk], seq: 1 });
    await feed.refresh("keys", later(60_000));
    expect(feed.keys(later(60_000))?.has(other.publicJwk.kid)).toBe(false);
  });
});

describe("when it asks", () => {
  test("one refresh at a time, and the next one when it is due", async () => {
    const { feed, answers, asked } = world({ [JWKS]: jwks(pair.publicJwk) });
    answers[DRIP] = await drip(1, pair.signingKey);
    expect(feed.refreshDue("drip:demo", NOW)).toBe(true);
    const both = [feed.refresh("drip:demo", NOW), feed.refresh("drip:demo", NOW)];
    expect(feed.refreshDue("drip:demo", NOW)).toBe(false);
    expect(await Promise.all(both)).toEqual(["fresh", "busy"]);
    expect(asked.filter((url) => url.endsWith("/drip"))).toHaveLength(1);
    expect(feed.refreshDue("drip:demo", later(999))).toBe(false);
    expect(feed.refreshDue("drip:demo", later(1_000))).toBe(true);
  });
  test("stale is what nobody asked for lately, not what was asked for in vain", async () => {
    const { feed, answers } = world({ [JWKS]: jwks(pair.publicJwk) });
    const stale = (ms: number) => feed.isStale("drip:demo", later(ms), 3_000);
    expect(stale(0)).toBe(true);
    answers[DRIP] = await drip(1, pair.signingKey);
    await feed.refresh("drip:demo", NOW);
    expect([stale(3_000), stale(3_001), stale(-3_600_000)]).toEqual([false, true, true]);
    // The same statement again is an answer as well.
    await feed.refresh("drip:demo", later(60_000));
    expect([stale(62_000), stale(64_000)]).toEqual([false, true]);
    delete answers[DRIP];
    await feed.refresh("drip:demo", later(64_000));
    expect([stale(79_000), stale(79_001)]).toEqual([false, true]);
    // Nor while it is asked for again, however long that takes.
    answers[DRIP] = () => new Promise(() => {});
    void feed.refresh("drip:demo", later(79_000));
    expect([stale(79_001), stale(80_000)]).toEqual([false, false]);
  });
  test("who meets a refresh under way can wait for its end; who meets none waits for nothing", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { feed } = world({
      [JWKS]: async () => {
        await held;
        return ok({ text: jwks(pair.publicJwk), roundTripMs: 1 });
      },
    });
    expect(feed.whenAnswered("keys", NOW)).toBeUndefined();
    const asking = feed.refresh("keys", NOW);
    const waiting = feed.whenAnswered("keys", NOW);
    release();
    await waiting;
    expect(feed.keys(NOW)?.has(pair.publicJwk.kid)).toBe(true);
    await asking;
    expect(feed.whenAnswered("keys", NOW)).toBeUndefined();
  });
  test("nobody waits longer than the bound for a mint that says nothing", async () => {
    const { feed } = world({ [JWKS]: () => new Promise(() => undefined) });
    void feed.refresh("keys", NOW);
    await feed.whenAnswered("keys", NOW);
    expect(feed.whenAnswered("keys", NOW)).toBeDefined();
  });
  test("whoever asks before it is due is answered by a mint, not by the cache", async () => {
    const { feed, asked } = world({ [JWKS]: jwks(pair.publicJwk) }, new Map());
    await feed.refresh("keys", NOW);
    await feed.refresh("keys", later(1_000));
    expect(asked).toHaveLength(2);
  });
  test("failures back off up to 10 s, and recovery is seen within it", async () => {
    const { feed, answers } = world({ [JWKS]: jwks(pair.publicJwk) });
    let at = 0;
    const gaps: number[] = [];
    for (let i = 0; i < 7; i += 1) {
      await feed.refresh("drip:demo", later(at));
      const from = at;
      while (!feed.refreshDue("drip:demo", later(at))) at += 500;
      gaps.push(at - from);
    }
    expect(gaps).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
    answers[DRIP] = await drip(1, pair.signingKey, NOW + at);
    await feed.refresh("drip:demo", later(at));
    expect(seqOf(feed)).toBe(1);
    expect(feed.refreshDue("drip:demo", later(at + 1_000))).toBe(true);
  });
  test("a refresh whose request was cancelled blocks nobody for ever", async () => {
    const { feed, answers } = world({ [JWKS]: () => new Promise(() => undefined) });
    void feed.refresh("keys", NOW);
    expect(feed.refreshDue("keys", later(1_000))).toBe(false);
    expect(feed.refreshDue("keys", later(10_000))).toBe(true);
    answers[JWKS] = jwks(pair.publicJwk);
    expect(await feed.refresh("keys", later(10_000))).toBe("fresh");
  });
  test("a clock that steps back an hour does not silence it", async () => {
    const { feed } = world({ [JWKS]: jwks(pair.publicJwk) });
    await feed.refresh("keys", NOW);
    expect(feed.refreshDue("keys", later(-3_600_000))).toBe(true);
  });
  test("KR-01: unknown kids make it ask once per cool-down, whatever their number", async () => {
    const { feed, asked } = world({ [JWKS]: jwks(pair.publicJwk) });
    const worth = [];
    for (let ms = 0; ms < 10_000; ms += 1) worth.push(await feed.newerKeys(later(ms)));
    expect(worth.filter(Boolean)).toHaveLength(1);
    expect(asked).toHaveLength(1);
    expect(await feed.newerKeys(later(10_001))).toBe(true);
  });
  test("KR-01: ten isolates of a location, 10,000 made-up kids each in ten seconds: one question each at most", async () => {
    const cache = new Map<string, CachedText>();
    const isolates = Array.from({ length: 10 }, () =>
      world({ [JWKS]: jwks(pair.publicJwk) }, cache),
    );
    for (let ms = 0; ms < 10_000; ms += 1)
      await Promise.all(isolates.map(({ feed }) => feed.newerKeys(later(ms))));
    const asked = isolates.map((isolate) => isolate.asked.length);
    expect(Math.max(...asked)).toBeLessThanOrEqual(1);
    for (const { feed } of isolates) expect(feed.keys(later(10_000))?.size).toBe(1);
  });
  test("of twenty who come at once with a new kid one asks, and all look again afterwards", async () => {
    const next = await newPair();
    const { feed, answers, asked } = world({ [JWKS]: jwks(pair.publicJwk) });
    await feed.refresh("keys", NOW);
    answers[JWKS] = jwks(pair.publicJwk, next.publicJwk);
    const worth = await Promise.all(Array.from({ length: 20 }, () => feed.newerKeys(later(1))));
    expect(worth).toEqual(Array.from({ length: 20 }, () => true));
    expect(asked).toHaveLength(2);
    expect(feed.keys(later(1))?.size).toBe(2);
  });
  test("a statement signed with a key of which it has not heard makes it fetch the keys, once", async () => {
    const next = await newPair();
    const { feed, answers, asked } = world({ [JWKS]: jwks(pair.publicJwk) });
    await feed.refresh("keys", NOW);
    answers[JWKS] = jwks(pair.publicJwk, next.publicJwk);
    answers["/v1/manifest"] = await manifest(1, next.signingKey);
    expect(await feed.refresh("manifest", later(1))).toBe("fresh");
    expect(asked.filter((url) => url.endsWith(JWKS))).toHaveLength(2);
  });
});

describe("a statement tells of a newer key set", () => {
  const set = (seq: number, ...keys: PublicJwk[]) => JSON.stringify({ seq, keys });
  const told = (seq: number, keysSeq: number) => drip(seq, pair.signingKey, NOW, { keysSeq });

  test("the keys are asked for within the same refresh, past every cache", async () => {
    const gone = await newPair();
    const cache = new Map<string, CachedText>();
    const { feed, answers, asked } = world(
      { [JWKS]: set(1, pair.publicJwk, gone.publicJwk) },
      cache,
    );
    await feed.refresh("keys", NOW);
    answers[JWKS] = set(2, pair.publicJwk);
    answers[DRIP] = await told(1, 2);
    await feed.refresh("drip:demo", later(1_000));
    expect(feed.keys(later(1_000))?.has(gone.publicJwk.kid)).toBe(false);
    expect(asked.at(-1)).toBe(`https://one.example${JWKS}?seq=2`);
    // Known now: nothing more is asked for.
    answers[DRIP] = await told(2, 2);
    await feed.refresh("drip:demo", later(2_000));
    expect(asked.filter((url) => url.includes(JWKS))).toHaveLength(2);
  });
  test("a manifest tells as well", async () => {
    const { feed, answers } = world({ [JWKS]: set(1, pair.publicJwk) });
    await feed.refresh("keys", NOW);
    const next = await newPair();
    answers[JWKS] = set(5, pair.publicJwk, next.publicJwk);
    const iat = epochSeconds(NOW / 1000);
    const claims = { iss: ISSUER, iat, exp: iat + 604_800, seq: 1, events: [], keysSeq: 5 };
    answers["/v1/manifest"] = await signManifest(pair.signingKey, claims);
    await feed.refresh("manifest", later(1));
    expect(feed.keys(later(1))?.has(next.publicJwk.kid)).toBe(true);
  });
  test("mints that have not heard of it are asked again once a second, and never take a location back", async () => {
    const { feed, answers, asked } = world({ [JWKS]: set(4, pair.publicJwk) });
    await feed.refresh("keys", NOW);
    for (let ms = 0; ms < 3_000; ms += 100) {
      answers[DRIP] = await told(ms + 1, 9);
      await feed.refresh("drip:demo", later(ms));
    }
    // Both of them, in each of three seconds.
    expect(asked.filter((url) => url.includes("?seq=9"))).toHaveLength(6);
    answers[JWKS] = set(3, (await newPair()).publicJwk);
    await feed.refresh("keys", later(60_000));
    expect(feed.keys(later(60_000))?.has(pair.publicJwk.kid)).toBe(true);
  });
  test("a mint that has not read it yet is not the last one asked", async () => {
    const { feed, answers } = world({ [JWKS]: set(1, pair.publicJwk) });
    await feed.refresh("keys", NOW);
    const next = await newPair();
    answers[`https://two.example${JWKS}?seq=2`] = set(2, next.publicJwk, pair.publicJwk);
    answers[DRIP] = await told(1, 2);
    await feed.refresh("drip:demo", later(1_000));
    expect(feed.keys(later(1_000))?.has(next.publicJwk.kid)).toBe(true);
  });
  test("a stranger's statement makes it ask for nothing", async () => {
    const stranger = await newPair();
    const { feed, answers, asked } = world({ [JWKS]: set(1, pair.publicJwk) });
    await feed.refresh("keys", NOW);
    await feed.newerKeys(NOW);
    answers[DRIP] = await drip(1, stranger.signingKey, NOW, { keysSeq: 99 });
    await feed.refresh("drip:demo", later(1));
    expect(asked.filter((url) => url.includes("seq="))).toEqual([]);
  });
  test("a set without a number is as before: nothing is behind", async () => {
    const { feed, answers, asked } = world({ [JWKS]: jwks(pair.publicJwk) });
    await feed.refresh("keys", NOW);
    answers[DRIP] = await told(1, 7);
    await feed.refresh("drip:demo", later(1));
    expect(asked.filter((url) => url.includes(JWKS))).toHaveLength(1);
  });
});

describe("between isolates of one location", () => {
  test("what one fetched a moment ago the other takes from the cache, verified", async () => {
    const cache = new Map<string, CachedText>();
    const one = world(
      { [JWKS]: jwks(pair.publicJwk), [DRIP]: await drip(3, pair.signingKey) },
      cache,
    );
    await one.feed.refresh("drip:demo", NOW);
    const two = world({}, cache);
    expect(await two.feed.refresh("drip:demo", later(500))).toBe("fresh");
    expect(seqOf(two.feed)).toBe(3);
    expect(two.asked).toEqual([]);
  });
  test("a key of which no isolate has heard is asked for at a mint, not in the cache", async () => {
    const next = await newPair();
    const { feed, answers } = world({ [JWKS]: jwks(pair.publicJwk) }, new Map());
    await feed.refresh("keys", NOW);
    answers[JWKS] = jwks(pair.publicJwk, next.publicJwk);
    answers["/v1/manifest"] = await manifest(1, next.signingKey);
    expect(await feed.refresh("manifest", later(1_000))).toBe("fresh");
  });
  test("a forged entry is worth nothing, an old one is better than nothing", async () => {
    const cache = new Map<string, CachedText>();
    const stranger = await newPair();
    cache.set("keys", { text: jwks(pair.publicJwk), fetchedAt: NOW });
    cache.set("drip:demo", { text: await drip(9, stranger.signingKey), fetchedAt: NOW });
    const { feed } = world({}, cache);
    await feed.refresh("drip:demo", later(100));
    expect(seqOf(feed)).toBeUndefined();
    cache.set("drip:demo", { text: await drip(2, pair.signingKey), fetchedAt: NOW });
    expect(await feed.refresh("drip:demo", later(60_000))).toBe("kept");
    expect(seqOf(feed)).toBe(2);
  });
});

describe("the fetch itself", () => {
  const get = (answer: () => Response | Promise<Response>, deadlineMs = 1_000) =>
    createFetchText(async (_url, init) => {
      const { signal, redirect } = init as { signal: AbortSignal; redirect: string };
      expect(redirect).toBe("manual");
      const aborted = new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
      return Promise.race([answer(), aborted]);
    })({ url: "https://one.example/x", accept: "text/plain", deadlineMs, bytesMax: 100 });
  test("stops reading at its bound, whatever Content-Length says", async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new Uint8Array(64));
      },
    });
    const answer = await get(() => new Response(endless, { headers: { "Content-Length": "1" } }));
    expect(answer).toEqual(refuse({ reason: "too-large" }));
    expect(pulled).toBeLessThan(10);
  });
  test("redirects, other statuses, broken text, silence, refusal: each has its name", async () => {
    const location = { Location: "https://evil.example/" };
    expect(await get(() => new Response(null, { status: 302, headers: location }))).toEqual(
      refuse({ reason: "redirect" }),
    );
    expect(await get(() => new Response(null, { status: 304 }))).toEqual(
      refuse({ reason: "status", status: 304 }),
    );
    expect(await get(() => new Response("x", { status: 503 }))).toEqual(
      refuse({ reason: "status", status: 503 }),
    );
    expect(await get(() => new Response(new Uint8Array([0xff, 0xfe])))).toEqual(
      refuse({ reason: "not-text" }),
    );
    expect(await get(() => new Promise<Response>(() => undefined), 20)).toEqual(
      refuse({ reason: "timeout" }),
    );
    expect(await get(() => Promise.reject(new Error("refused")))).toEqual(
      refuse({ reason: "unreachable" }),
    );
    expect(await get(() => new Response("good"))).toMatchObject({
      ok: true,
      value: { text: "good" },
    });
  });
});
