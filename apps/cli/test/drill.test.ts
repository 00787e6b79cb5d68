import { KEY_STAGED_SECONDS } from "@vestibule/contracts/limits";
import { generateKeyPair } from "@vestibule/keys/key-pair";
import { describe, expect, it } from "vitest";
import { EDGE_URL, FakeLocation } from "./support/fake-location.ts";
import { TOKEN } from "./support/fake-mint.ts";
import { type Ran, World } from "./support/fake-platform.ts";

const DRILL = ["keys", "drill", "--yes", "--json"];
const HOST = "vestibule-drill.invalid:65536";

const changes = (world: World): readonly string[] =>
  world.mint.asked
    .filter(({ method, url }) => method === "POST" && url.includes("/keys"))
    .map(({ url }) => url);

function passed({ code, json }: Ran): void {
  expect(json.problems).toEqual([]);
  expect(json).toMatchObject({ completed: true, refused: 0, forgedAccepted: 0, overAccepted: 0 });
  expect(json.checked).toBeGreaterThan(1_000);
  expect(json.forgedChecked).toBeGreaterThan(50);
  expect(json.overChecked).toBeGreaterThan(0);
  expect(code).toBe(0);
}

describe("a drill on a new system", () => {
  it("rotates at once, refuses nothing, and tells how long overlaps were used and how far the new set came", async () => {
    const world = await World.start();
    const { mint, clock } = world;
    const [from, to] = [mint.key("admission", "signing"), mint.key("admission", "staged")];
    const began = clock.now();
    const ran = await world.run(DRILL);
    passed(ran);
    expect(ran.json).toMatchObject({ use: "admission", from, to, locationReports: false });
    expect(mint.key("admission", "signing")).toBe(to);
    expect(ran.json.signedByOld).toBeGreaterThan(5);
    expect(ran.json.signedByNew).toBeGreaterThan(5);
    // A token lives 15 s; by the tolerance, and clocks that are behind, somewhat longer.
    expect(ran.json.longestOverlapSeconds).toBeGreaterThan(15);
    expect(ran.json.longestOverlapSeconds).toBeLessThan(30);
    expect(clock.now() - began).toBeLessThan(60_000);
    for (const { kind, name, seconds, newKeySeconds } of ran.json.propagation) {
      expect(kind).toBe("verifier");
      expect(newKeySeconds).toBeLessThan(5);
      if (name.includes("cache")) expect(seconds).toBeNull();
      else expect(seconds).toBeLessThan(5);
    }
    expect(mint.audit).toEqual(["activate vestibule keys drill"]);
    expect(ran.out.trimEnd().split("\n")).toHaveLength(1);
    expect(ran.out + ran.err).not.toContain(TOKEN);
  });

  it("verifies through locations, and tells what these have reported to the mint", async () => {
    const world = await World.start();
    const { mint, clock } = world;
    mint.broken = ({ url }) => {
      if (!url.endsWith("/v1/admin/edges")) return undefined;
      const row = { sender: "a1", state: "good", skewSeconds: 5, reportedAt: clock.now() };
      const edges = [
        { ...row, location: "fra", keysSeq: mint.seq, keysSeqAt: mint.seq + 2_500 },
        { ...row, location: "iad", keysSeq: mint.seq - 1, keysSeqAt: mint.seq },
      ];
      return [200, { now: clock.now(), mint: { state: "good" }, edges, turnedAway: 0 }];
    };
    const elsewhere = new FakeLocation(mint).send;
    const ran = await world.run([...DRILL, "--edge", `${EDGE_URL}/`], { elsewhere });
    passed(ran);
    const { propagation, locationReports } = ran.json;
    const place = { name: `fra (${EDGE_URL})`, kind: "location" };
    expect(propagation).toContainEqual(expect.objectContaining(place));
    const report = { kind: "report", newKeySeconds: null };
    expect(propagation).toContainEqual({ ...report, name: "fra (a1)", seconds: 2.5 });
    expect(propagation).toContainEqual({ ...report, name: "iad (a1)", seconds: null });
    expect(locationReports).toBe(true);
  });
});

describe("a rehearsal", () => {
  it("is one event, joined by nobody between drills, that no request can reach; a drill that must wait uses it again", async () => {
    const world = await World.start();
    const { mint, clock } = world;
    passed(await world.run(DRILL));
    const [event] = mint.events.values();
    expect(event).toMatchObject({ event: "vestibule-drill", rehearsal: true, hosts: [HOST] });
    // URLs with this host are not valid.
    expect(URL.canParse(`https://${HOST}/`)).toBe(false);
    clock.advance(5_000);
    expect(event?.endsAt).toBeLessThan(clock.now());

    const before = changes(world);
    const short = await world.run([...DRILL, "--timeout", "2m"]);
    expect(short.code).toBe(4);
    expect(short.err).toMatch(/--timeout 2 min is too short: the next key may sign in 3 min/);
    expect(changes(world)).toEqual(before);

    const began = clock.now();
    const ran = await world.run(DRILL);
    passed(ran);
    expect(clock.now() - began).toBeGreaterThan(200_000);
    expect(ran.err).toMatch(/until the next key may sign, may sign in 3 min/);
    expect(mint.events.size).toBe(1);
  });

  it("is never a real line of that name, nor one that an organizer has ended; the line's key rotates as well", async () => {
    const world = await World.start();
    const { mint } = world;
    const real = { event: "vestibule-drill", hosts: ["shop.example"], version: 1, endsAt: 9e15 };
    const other = { ...real, event: "vestibule-drill-2", hosts: [HOST] };
    for (const event of [real, { ...other, rehearsal: true, endedAt: 1 }])
      mint.events.set(event.event, { ...event, lifetimeSeconds: 60 } as never);
    const to = mint.key("line", "staged");
    const ran = await world.run([...DRILL, "--use", "line", "--reason", "monthly"]);
    passed(ran);
    expect(mint.key("line", "signing")).toBe(to);
    expect(mint.audit).toEqual(["activate monthly"]);
    expect(ran.json.event).toBe("vestibule-drill-3");
    const joined = mint.asked.filter(({ url }) => url.endsWith("/tickets"));
    expect(joined.length).toBeGreaterThan(0);
    expect(joined.every(({ url }) => url.includes("/vestibule-drill-3/"))).toBe(true);
  });
});

describe("a drill that cannot be", () => {
  it("refuses when there is no place for one more key", async () => {
    const world = await World.start();
    const stage = ["keys", "stage", "--use", "admission", "--another", "--yes"];
    for (let more = 0; more < 5; more += 1) expect((await world.run(stage)).code).toBe(0);
    const ran = await world.run(DRILL);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/no place for a drill: 7 of 8 keys/);
  });

  it("refuses a key set that no verifier takes, before anything is changed", async () => {
    const world = await World.start();
    const { privateJwk } = await generateKeyPair();
    world.mint.broken = ({ url }) =>
      url.includes("jwks") ? [200, { keys: [privateJwk] }] : undefined;
    const ran = await world.run(DRILL);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/none that a verifier takes/);
    expect(changes(world)).toEqual([]);
  });

  it.each([
    ["before the takeover", 4],
    ["after it", 30],
  ])("stops at Ctrl-C %s, says where the keys are, and closes the rehearsal", async (_, after) => {
    const world = await World.start();
    const ran = await world.run(DRILL, { interrupt: (waits) => waits > after });
    expect(ran.code).toBe(130);
    expect(ran.json).toMatchObject({ completed: false, interrupted: true, refused: 0 });
    expect(ran.json.problems.join("\n")).toMatch(/running it again is safe.*\n.* signing/s);
    const [event] = world.mint.events.values();
    expect(event?.endsAt).toBeLessThanOrEqual(world.clock.now() + 3_000);
  });

  it("says so when its time is over, and when somebody else changes the keys", async () => {
    const world = await World.start();
    await world.run(["keys", "rotate", "--yes"]);
    const staged = world.mint.key("admission", "staged");
    let looks = 0;
    world.mint.broken = ({ url }) => {
      looks += url.endsWith("/admin/keys") ? 1 : 0;
      return undefined;
    };
    const revoke = ["keys", "revoke", staged, "--yes"];
    let revoked: Promise<Ran> | undefined;
    const ran = await world.run(DRILL, {
      interrupt: () => {
        if (looks > 3) revoked ??= world.run(revoke);
        return false;
      },
    });
    expect((await revoked)?.code).toBe(0);
    expect(ran.code).toBe(1);
    expect(ran.json.problems.join()).toMatch(/is revoked: somebody else changes the keys/);
    world.clock.advance(KEY_STAGED_SECONDS * 1_000);
    world.mint.broken = ({ url }) => (url.endsWith("/activate") ? "away" : undefined);
    const late = await world.run([...DRILL, "--timeout", "60s"]);
    expect(late.code).toBe(1);
    expect(late.json).toMatchObject({ completed: false, refused: 0 });
    expect(late.json.problems.join()).toMatch(/gives no answer/);
  });
});

describe("canary: a drill fails, with an exit code that says so", () => {
  it.each([
    ["signs is gone from the set", "signing", "staged"],
    ["signed before is gone with the takeover: its overlap is refused", "retiring", "signing"],
  ] as const)("when the key that %s", async (_, later, now) => {
    const world = await World.start();
    const { mint } = world;
    const kid = mint.key("admission", now);
    mint.broken = () => {
      if (mint.key("admission", later) === kid) mint.unpublished = new Set([kid]);
      return undefined;
    };
    const ran = await world.run(DRILL);
    expect(ran.code).toBe(1);
    expect(ran.json.refused).toBeGreaterThan(0);
    expect(ran.json.wrong).toContainEqual(expect.objectContaining({ reason: "unknown-key", kid }));
    expect(ran.err).toContain("The drill failed.");
  });

  it.each([
    ["takes everything", () => true, /wrong already before the takeover/],
    ["refuses everything", () => false, /wrong already before the takeover/],
    ["does not say", () => undefined, /not everybody took a token .*: fra/],
  ])("when a location %s, and then no key is changed", async (_, admits, problem) => {
    const world = await World.start();
    const place = new FakeLocation(world.mint);
    place.admits = admits;
    const ran = await world.run([...DRILL, "--edge", EDGE_URL], { elsewhere: place.send });
    expect(ran.code).toBe(1);
    expect(ran.json.completed).toBe(false);
    expect(ran.json.problems.join()).toMatch(problem);
    expect(changes(world)).toEqual([]);
  });

  it("when a location refuses what the new key signs, or takes what is over", async () => {
    const world = await World.start();
    const { mint } = world;
    const [from, to] = [mint.key("admission", "signing"), mint.key("admission", "staged")];
    const place = new FakeLocation(mint);
    place.admits = (admission) =>
      mint.key("admission", "signing") === from
        ? place.isGood(admission)
        : !admission.startsWith(headerOf(to));
    const ran = await world.run([...DRILL, "--edge", EDGE_URL], { elsewhere: place.send });
    expect(ran.code).toBe(1);
    expect(ran.json.refused).toBeGreaterThan(0);
    expect(ran.json.overAccepted).toBeGreaterThan(0);
    expect(ran.json.forgedAccepted).toBeGreaterThan(0);
    expect(ran.json.problems.join()).toMatch(/fra .*accepted nothing of the new key/);
  });
});

function headerOf(kid: string): string {
  const header = JSON.stringify({ alg: "Ed25519", typ: "vst-admission+jwt", kid });
  return Buffer.from(header).toString("base64url");
}
