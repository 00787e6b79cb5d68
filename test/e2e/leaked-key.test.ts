/**
 * The emergency: the key that signs admissions leaks, and is revoked in the middle of a sale. Two locations, the purchase
 * API and a shop with the guard, all of them warm and under load; the fans are inside.
 */
import { randomUUID } from "node:crypto";

import type { KeysView } from "@vestibule/contracts/keys-api";
import { REVOCATION_SECONDS_MAX } from "@vestibule/contracts/limits";
import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";
import { createGuard, type Guard } from "@vestibule/guard";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type System, freePortBase, openEvent, startSystem } from "./start-system.ts";
import { App, type Claimed, type Pass, type Place, buy, problemOf, send } from "./support/app.ts";
import { eventually, watch } from "./support/eventually.ts";
import { Organizer } from "./support/organizer.ts";
import { type RecordingOrigin, startRecordingOrigin } from "./support/recording-origin.ts";
import { type SecondEdge, startSecondEdge } from "./support/second-edge.ts";
import { claimsOf, headerOf } from "./support/token-parts.ts";

const EVENT = "leak";
const FANS = 40;
const WAITING = 60;
/** Each fan, and each probe with the leaked key's admission, asks this often. */
const FAN_EVERY_MS = 400;
const PROBE_EVERY_MS = 50;
/** It is refused for good when it was refused so often in a row. */
const REFUSALS_ENOUGH = 40;
const BOUND_MS = REVOCATION_SECONDS_MAX * 1_000;

let system: System;
let origin: RecordingOrigin;
let started: readonly SecondEdge[] = [];
let edges: readonly [App, App];
let guard: Guard;

beforeAll(async () => {
  // Probes ask all the time with one visitor; the limit has tests of its own.
  system = await startSystem({ environment: { VESTIBULE_LIMIT_PURCHASE: "1000/1ms" } });
  const port = await freePortBase();
  const ports = [port, port + 1];
  const hosts = ports.map((each) => `127.0.0.1:${each}`);
  await openEvent(system.ready, { event: EVENT, hosts, ratePerMinute: 6_000, horizonSeconds: 10 });
  origin = await startRecordingOrigin();
  const ways = { origin: origin.url };
  started = await Promise.all(
    ports.map((each) => startSecondEdge(system, { port: each, ...ways })),
  );
  const [one, other] = started.map(({ url }) => new App(url, EVENT));
  edges = [one!, other!];
  for (const edge of edges) await edge.known();
  const { ISSUER = "", MINT_URLS = "" } = started[0]!.vars;
  guard = createGuard({ mintUrls: MINT_URLS, issuer: ISSUER, event: EVENT });
  guard.start();
});
afterAll(async () => {
  guard?.close();
  await Promise.all(started.map((edge) => edge.stop()));
  await origin?.close();
  await system?.stop();
});

interface Location {
  readonly name: string;
  /** Whether this admission passes here, now. */
  readonly takes: (pass: Pass) => Promise<boolean>;
}

/** What an admission is good for: two edges, the purchase API itself, a shop with the guard. */
function locations(): readonly Location[] {
  const { ready } = system;
  const purchases = `${ready.purchase.replace("localhost", "127.0.0.1")}/v1/events/${EVENT}/purchases`;
  const keys = new Map<string, string>();
  return [
    { name: "edge", takes: async (pass) => (await edges[0].enter(pass)) === 200 },
    { name: "second edge", takes: async (pass) => (await edges[1].enter(pass)) === 200 },
    {
      name: "purchase API",
      // The same purchase again gets its earlier answer, as long as its admission is good.
      takes: async (pass) => {
        const key = keys.get(pass.visitor) ?? randomUUID();
        keys.set(pass.visitor, key);
        const answer = await buy(purchases, pass, { key, sku: ready.sku });
        if (![200, 201, 401].includes(answer.status)) throw new Error(problemOf(answer));
        return answer.status !== 401;
      },
    },
    {
      name: "guard",
      takes: async ({ admission, visitor }) => {
        const headers = new Headers({ [ADMISSION_HEADER]: admission, [VISITOR_HEADER]: visitor });
        return (await guard.check({ headers })).ok;
      },
    },
  ];
}

/** Until it is refused for good: how long after `since()` it was asked the last time that it passed. */
async function probe(
  { takes }: Location,
  pass: Pass,
  { since, isOver }: { since: () => number; isOver: () => boolean },
): Promise<number> {
  let passed = Number.NEGATIVE_INFINITY;
  let refused = 0;
  const look = async () => {
    const asked = performance.now();
    if (await takes(pass)) [passed, refused] = [asked, 0];
    else refused += 1;
  };
  const isDecided = () => isOver() || refused >= REFUSALS_ENOUGH;
  await watch(look, { isOver: isDecided, everyMs: PROBE_EVERY_MS });
  return passed - since();
}

/** One who is inside, goes from page to page at both edges, and claims again when the holding page is there. */
class Fan {
  readonly place: Place;
  readonly first: Claimed;
  pass: Claimed;
  claims = 0;
  /** Pages that a valid admission did not get. */
  refused = 0;
  pages = 0;

  constructor(place: Place, pass: Claimed) {
    this.place = place;
    this.first = pass;
    this.pass = pass;
  }

  async browse({ isRevoked, isOver }: { isRevoked: () => boolean; isOver: () => boolean }) {
    let page = this.place.number;
    const look = async () => {
      const edge = edges[(page += 1) % 2 === 0 ? 0 : 1];
      if ((await edge.enter(this.pass)) === 200) this.pages += 1;
      else if (this.pass !== this.first || !isRevoked()) this.refused += 1;
      else await this.#claimAgain(edge);
    };
    await watch(look, { isOver, everyMs: FAN_EVERY_MS });
  }

  async #claimAgain(edge: App): Promise<void> {
    this.claims += 1;
    const { status, body } = await edge.tryClaim(this.place);
    if (status !== 201) return;
    const { opensAt, closesAt, admission = "" } = body;
    this.pass = { ...this.pass, opensAt, closesAt, admission };
  }
}

async function revokeSigningKey(): Promise<string> {
  const { mint, adminToken } = system.ready;
  const headers = { Authorization: `Bearer ${adminToken}` };
  const { body } = await send<KeysView>(`${mint}/v1/admin/keys`, { headers });
  const key = body.keys.find(({ use, state }) => use === "admission" && state === "signing");
  const url = `${mint}/v1/admin/keys/${key?.kid}/revoke`;
  const json = { reason: "found in a paste" };
  const { status } = await send(url, { method: "POST", headers, json });
  expect(status).toBe(200);
  return key?.kid ?? "";
}

test("law 8: under load, the last location refuses what a revoked key signed within the stated time; fans claim once and are back with the same slot, nobody loses a place, and no valid admission is refused", async () => {
  const places = await edges[0].joinAll(FANS + 4);
  const fans = await Promise.all(
    places.map(async (place) => {
      const pass = await edges[place.number % 2 === 0 ? 0 : 1].claim(place);
      await edges[0].enterWhenOpen(pass);
      return new Fan(place, pass);
    }),
  );
  const holders = fans.splice(FANS);
  // Behind them a line that waits.
  await new Organizer(system.ready, EVENT).change({ ratePerMinute: 60 });
  const waiting = await edges[1].joinAll(WAITING);

  let revokedAt = Number.POSITIVE_INFINITY;
  let isOver = false;
  const isRevoked = () => performance.now() >= revokedAt;
  const browsing = fans.map((fan) => fan.browse({ isRevoked, isOver: () => isOver }));
  const all = locations();
  const warm = async () =>
    (await Promise.all(all.map(({ takes }, at) => takes(holders[at]!.pass)))).every(Boolean);
  await eventually("every location takes the admissions", warm);
  await eventually("everybody looked around", () => fans.every(({ pages }) => pages >= 4));

  // Whoever is refused while the mint is about to answer is refused by right, too.
  revokedAt = performance.now();
  const leaked = await revokeSigningKey();
  const answeredAt = performance.now();
  const deadline = answeredAt + BOUND_MS;
  const since = () => answeredAt;
  const isLate = () => performance.now() > deadline;
  const times = await Promise.all(
    all.map((location, at) => probe(location, holders[at]!.pass, { since, isOver: isLate })),
  );
  await eventually("every fan is back", () => fans.every(({ pass, first }) => pass !== first));
  const pages = fans.reduce((sum, fan) => sum + fan.pages, 0);
  await eventually("and goes on", () => fans.reduce((sum, fan) => sum + fan.pages, 0) > pages + 80);
  isOver = true;
  await Promise.all(browsing);

  const shown = all.map(({ name }, at) => `${name} ${Math.max(0, Math.round(times[at]!))} ms`);
  console.log(`revoked; passed for the last time after the answer: ${shown.join(", ")}`);
  for (const time of times) expect(time).toBeLessThan(BOUND_MS);

  for (const { first, pass, claims, refused } of fans) {
    expect({ claims, refused }).toEqual({ claims: 1, refused: 0 });
    const { iat: _before, ...slot } = claimsOf(first.admission);
    const { iat: _after, ...slotAgain } = claimsOf(pass.admission);
    expect(slotAgain).toEqual(slot);
    const kids = [first, pass].map(({ admission }) => headerOf(admission)["kid"]);
    expect([kids[0], kids[1] === leaked]).toEqual([leaked, false]);
  }
  // What was bought stays bought, and the admission that was spent stays spent.
  const holder = holders[2]!;
  const again = await edges[0].claim(holder.place);
  expect(await all[2]!.takes(again)).toBe(true);
  const twice = await edges[0].buy(again, { key: randomUUID(), sku: system.ready.sku });
  expect(problemOf(twice)).toBe("already-spent");
  for (const [index, place] of waiting.entries()) {
    if (index % 6 === 0) expect((await edges[0].me(place)).number).toBe(place.number);
    if (index % 6 === 3) {
      const { status, body } = await edges[1].tryJoin(place);
      expect([status, body.number]).toEqual([200, place.number]);
    }
  }
  await edges[1].enterWhenOpen(await edges[1].claim(waiting[0]!));
});
