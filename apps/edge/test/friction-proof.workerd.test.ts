/** Proof of work before a new place: asked for by an event, checked by one hash, and good for one visitor only. */
import { languageFiles, script as pageScript } from "#page-assets";
import { type LinePorts, createLineClient } from "@vestibule/client/line-client";
import { prove, zeroBits } from "@vestibule/client/proof";
import { type TokenStore, type Tokens, withTokens } from "@vestibule/client/tokens";
import type { ProofOfWork } from "@vestibule/contracts/line-api";
import { epochMs } from "@vestibule/kernel/units";
import { describe, expect, test } from "vitest";
import { PROOF_AHEAD_SECONDS, PROOF_SECONDS } from "../src/limits.ts";
import { EVENT } from "./event.ts";
import {
  HOST,
  OWN_PAGE,
  PAGE_VIEW,
  VISITOR_A,
  VISITOR_B,
  type World,
  cookies,
  createWorld,
} from "./world.ts";

const TICKETS = "/_vestibule/events/demo/tickets";
const BITS = 8;

async function worldWith(bits: number): Promise<World> {
  const world = await createWorld();
  world.manifest = [{ ...EVENT, friction: { proofOfWorkBits: bits } }];
  return world;
}

function join(world: World, visitor: string, proof?: string): Promise<Response> {
  const shown = proof === undefined ? undefined : { "Vestibule-Proof": proof };
  const headers = { ...OWN_PAGE, Cookie: cookies({ visitor }), ...shown };
  return world.post(TICKETS, { headers });
}

async function workOf(answer: Response): Promise<ProofOfWork> {
  expect(answer.status).toBe(428);
  const body = await answer.json<{ type: string; proofOfWork: ProofOfWork }>();
  expect(body.type).toBe("urn:vestibule:problem:proof-of-work-required");
  return body.proofOfWork;
}

async function proofFor(work: ProofOfWork): Promise<string> {
  const counter = await prove(work, sha256);
  return `${work.at}.${counter}`;
}

const sha256 = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
const zeroBitsOf = async (text: string) => zeroBits(await sha256(text));

describe("an event that asks for work", () => {
  test("tells what to hash; whoever has done it gets a place, and again the same one", async () => {
    const world = await worldWith(BITS);
    const work = await workOf(await join(world, VISITOR_A));
    expect(work).toEqual({
      bits: BITS,
      text: expect.stringMatching(/^[\w-]{43}$/) as string,
      at: Math.floor(world.now / 1_000),
    });
    expect(world.grants()).toEqual([]);
    const proof = await proofFor(work);
    const counter = proof.split(".")[1] ?? "";
    expect(await zeroBitsOf(work.text + counter)).toBeGreaterThanOrEqual(BITS);
    for (let times = 0; times < 2; times += 1) {
      expect((await join(world, VISITOR_A, proof)).status).toBe(201);
    }
    // It is the mint that knows a visitor again: the edge has kept nothing.
    const asked = world.grants().map(({ body }) => body);
    expect(asked).toEqual([asked[0], asked[0]]);
  });

  test("the same solution is worth nothing to another visitor, nor for another event", async () => {
    const world = await worldWith(BITS);
    const work = await workOf(await join(world, VISITOR_A));
    const proof = await proofFor(work);
    // By chance one in 2^BITS is: then it is tried with the next moment's.
    const other = await workOf(await join(world, VISITOR_B));
    const counter = proof.split(".")[1] ?? "";
    const isLucky = (await zeroBitsOf(other.text + counter)) >= BITS;
    expect((await join(world, VISITOR_B, proof)).status).toBe(isLucky ? 201 : 428);
    expect(other.text).not.toBe(work.text);
    world.manifest = [{ ...EVENT, event: "demo", friction: { proofOfWorkBits: 24 } }];
    world.seq += 1;
    world.now = epochMs(world.now + 60_000);
    await world.get("/_vestibule/health");
    await world.get("/events/demo", { headers: PAGE_VIEW });
    await world.settle();
    // More was asked for since.
    expect((await join(world, VISITOR_A, proof)).status).toBe(428);
  });

  test("is good for a while, and for a clock that is behind by the most that clocks may; not further ahead", async () => {
    const world = await worldWith(1);
    const work = await workOf(await join(world, VISITOR_A));
    const proof = await proofFor(work);
    const at = async (seconds: number) => {
      world.now = epochMs((work.at + seconds) * 1_000);
      return (await join(world, VISITOR_A, proof)).status;
    };
    expect(await at(PROOF_SECONDS)).toBe(201);
    expect(await at(PROOF_SECONDS + 1)).toBe(428);
    expect(await at(-PROOF_AHEAD_SECONDS)).toBe(201);
    expect(await at(-PROOF_AHEAD_SECONDS - 1)).toBe(428);
  });

  test.each([
    ...["", ".", "1", "1.", ".1", "x.y", "1800000000.-1", "1800000000.1e3", "1800000000. 1"],
    ...["18000000000.1", "1800000000.12345678901234567", "1800000000.1.2", "+1800000000.1"],
  ])("an ill-formed proof is none: %j", async (proof) => {
    const world = await worldWith(1);
    expect((await join(world, VISITOR_A, proof)).status).toBe(428);
    expect(world.grants()).toEqual([]);
  });

  test("asks nothing of whoever holds a valid place", async () => {
    const world = await worldWith(24);
    const ticket = await world.ticket(5_000);
    const headers = { ...OWN_PAGE, Cookie: cookies({ visitor: VISITOR_A, ticket }) };
    const answer = await world.post(TICKETS, { headers });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ number: 5_000 });
  });

  test("token mode: whoever has no name yet is given one with the work, and comes again with it", async () => {
    const world = await worldWith(BITS);
    const first = await world.post(TICKETS, { headers: { "Vestibule-Mode": "token" } });
    const visitor = first.headers.get("vestibule-visitor") ?? "";
    expect(visitor).toMatch(/^[\w-]{43}$/);
    const told = await first.clone().json<{ visitor: string }>();
    expect(told.visitor).toBe(visitor);
    const proof = await proofFor(await workOf(first));
    const headers = {
      ...{ "Vestibule-Mode": "token", "Vestibule-Visitor": visitor, "Vestibule-Proof": proof },
    };
    const joined = await world.post(TICKETS, { headers });
    expect(joined.status).toBe(201);
    expect(await joined.json()).toMatchObject({ visitor, number: 1 });
  });

  test("an app with the client library is named by the first answer, and joins with the second", async () => {
    const world = await worldWith(BITS);
    let kept: Tokens = {};
    const store: TokenStore = {
      read: () => kept,
      write: (next) => {
        kept = next;
      },
    };
    const ports: LinePorts = {
      fetch: (url, { method = "GET", headers }) => world.get(url, { method, headers }),
      now: () => world.now,
    };
    const line = createLineClient("demo", withTokens(ports, HOST, store));
    const refused = await line.join();
    if (refused.ok || refused.proofOfWork === undefined) throw new Error("work is asked for");
    expect(kept.visitor).toMatch(/^[\w-]{43}$/);
    const { at } = refused.proofOfWork;
    const counter = await prove(refused.proofOfWork, sha256);
    expect(await line.join({ at, counter })).toMatchObject({ ok: true, body: { number: 1 } });
    expect(kept.ticket).toBeDefined();
  });

  test("a cookie client that is no browser is given its name with the work, too", async () => {
    const world = await worldWith(BITS);
    const first = await world.post(TICKETS);
    expect(first.status).toBe(428);
    expect(first.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-vst-visitor-demo=/),
    ]);
  });

  test("the proof never reaches the mint, nor the origin", async () => {
    const world = await worldWith(1);
    const proof = await proofFor(await workOf(await join(world, VISITOR_A)));
    await join(world, VISITOR_A, proof);
    await world.get("/events/demo/logo.svg", { headers: { "Vestibule-Proof": proof } });
    for (const { headers, body } of world.sent) {
      expect(headers.has("vestibule-proof")).toBe(false);
      expect(body).not.toContain(proof);
    }
  });
});

test("events that ask for none take a join as it comes, whatever is shown", async () => {
  const world = await createWorld();
  expect((await join(world, VISITOR_A)).status).toBe(201);
  expect((await join(world, VISITOR_B, "1.1")).status).toBe(201);
});

describe("the page of an event that asks for work", () => {
  const page = async (world: World, headers: Record<string, string> = {}) =>
    world.get("/events/demo", { headers: { ...PAGE_VIEW, ...headers } });

  test("carries the work's script under its own hash; other pages do not", async () => {
    const [asking, other] = [await worldWith(18), await createWorld()];
    const [withWork, without] = [await page(asking), await page(other)];
    const scriptOf = async (response: Response) => {
      const script = /<script>(?<text>[^]*?)<\/script>/.exec(await response.text())?.groups?.[
        "text"
      ];
      const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(script));
      const source = `'sha256-${btoa(String.fromCharCode(...new Uint8Array(hash)))}'`;
      expect(response.headers.get("content-security-policy")).toContain(`script-src ${source}`);
      return script ?? "";
    };
    const [long, short] = [await scriptOf(withWork), await scriptOf(without)];
    // Booleans, for whoever reads a failure. The button for alerts stands in its place elsewhere.
    expect([long, short].map((text) => text.endsWith(pageScript))).toEqual([true, true]);
    expect([long, short].map((text) => text.includes("vstProve="))).toEqual([true, false]);
  });

  test("whoever has a place has a page without it: no work is asked of them", async () => {
    const world = await worldWith(18);
    const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(50) });
    const html = await (await page(world, { Cookie })).text();
    expect(html.includes("vstProve=")).toBe(false);
    expect(html.includes(pageScript)).toBe(true);
  });

  test.each(Object.keys(languageFiles))(
    "is under 14,336 bytes compressed: %s",
    async (language) => {
      const world = await worldWith(18);
      const ticket = await world.ticket(1_234_567);
      for (const cookie of [{}, { visitor: VISITOR_A, ticket }]) {
        const shown = { "Accept-Language": language, Cookie: cookies(cookie) };
        const answer = await page(world, shown);
        const packed = answer.body?.pipeThrough(new CompressionStream("gzip"));
        const bytes = (await new Response(packed).arrayBuffer()).byteLength;
        expect(bytes).toBeLessThan(14_336);
      }
    },
  );

  test("without JavaScript says in words that nobody can join, and offers no button for it", async () => {
    const world = await worldWith(18);
    const html = await (await page(world)).text();
    expect(html).toContain("Without JavaScript nobody can join this line");
    expect(html).toMatch(/<form [^>]*id="join" hidden>/);
    const headers = {
      ...{ ...OWN_PAGE, ...PAGE_VIEW, Cookie: cookies({ visitor: VISITOR_A }) },
      "Content-Type": "application/x-www-form-urlencoded",
    };
    const answer = await world.post(TICKETS, { headers, body: "return=/events/demo" });
    expect(answer.status).toBe(428);
    expect(await answer.text()).toContain("Without JavaScript nobody can join this line");
  });
});
