/** The command line of whoever is on call, against the running system with its edge. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

import { connectDatabase } from "@vestibule/db/connect";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { type System, startSystem } from "./start-system.ts";
import { runCli, startCli } from "./support/cli.ts";
import { environmentOf } from "./support/running-parts.ts";

interface Key {
  readonly kid: string;
  readonly use: string;
  readonly state: string;
}

let system: System;
/** In front of the edge: lets every admission through, whatever the edge says. */
let sabotage: Server;

beforeAll(async () => {
  system = await startSystem();
  sabotage = createServer((request, response) => {
    void (async () => {
      const body: Buffer[] = [];
      for await (const part of request) body.push(part as Buffer);
      const answer = await fetch(system.ready.edge + request.url, {
        method: request.method ?? "GET",
        headers: Object.fromEntries(
          Object.entries(request.headers).filter(([name]) =>
            /^vestibule-|^content-type$/.test(name),
          ),
        ) as Record<string, string>,
        ...(request.method === "POST" ? { body: Buffer.concat(body) } : {}),
      });
      const text = await answer.text();
      response.writeHead(answer.status, { "Content-Type": "application/json" });
      response.end(text.replace('"admitted":false', '"admitted":true'));
    })();
  }).listen(0, "127.0.0.1");
  await once(sabotage, "listening");
});
afterAll(async () => {
  sabotage?.close();
  await system?.stop();
});

async function key(use: string, state: string): Promise<Key> {
  const { json } = await runCli(system, "keys", "list", "--json");
  const found = (json.keys as Key[]).find((each) => each.use === use && each.state === state);
  if (found === undefined) throw new Error(`no ${state} key of ${use}`);
  return found;
}

test("a drill whose verification is sabotaged fails, and changes no key", async () => {
  const signing = await key("admission", "signing");
  const { port } = sabotage.address() as AddressInfo;
  const edge = `http://127.0.0.1:${port}`;
  const ran = await runCli(system, "keys", "drill", "--yes", "--json", "--edge", edge);
  expect(ran.json).toMatchObject({ completed: false, refused: 0 });
  expect(ran.json.forgedAccepted).toBeGreaterThan(0);
  expect(ran.code).toBe(1);
  expect(await key("admission", "signing")).toEqual(expect.objectContaining({ kid: signing.kid }));
});

test("a drill on a new system rotates at once, refuses nothing at the edge or elsewhere, and says how far it came", async () => {
  const { kid } = await key("admission", "staged");
  const edge = system.ready.edge.replace("localhost", "127.0.0.1");
  const ran = await runCli(system, "keys", "drill", "--yes", "--json", "--edge", edge);
  expect(ran.json.problems).toEqual([]);
  expect(ran.json).toMatchObject({
    completed: true,
    refused: 0,
    forgedAccepted: 0,
    overAccepted: 0,
  });
  expect(ran.json).toMatchObject({ to: kid, event: "vestibule-drill" });
  expect(ran.json.checked).toBeGreaterThan(500);
  expect(ran.json.longestOverlapSeconds).toBeGreaterThan(10);
  const propagation = ran.json.propagation as { kind: string; seconds: number | null }[];
  const location = propagation.find(({ kind }) => kind === "location");
  expect(location?.seconds).toBeLessThan(20);
  expect(ran.code).toBe(0);
  expect(ran.out + ran.err).not.toContain(system.ready.adminToken);
});

test("a step that is too early is refused with its time; forced, its reason is in the audit log", async () => {
  const { kid } = await key("admission", "staged");
  const early = await runCli(system, "keys", "activate", kid.slice(0, 12), "--yes", "--json");
  expect([early.code, early.json.code]).toEqual([4, "not-yet-safe"]);
  expect(early.json.safeFrom).toBeGreaterThan(Date.now());
  expect(early.err).toMatch(/Not yet: it is safe from \d\d:\d\d:\d\d .* on, in \d min/);
  const unasked = await runCli(system, "keys", "activate", kid, "--force", "--reason", "test");
  expect(unasked.code).toBe(3);
  const reason = "an end-to-end test asked for it";
  const forced = ["keys", "activate", kid, "--force", "--reason", reason, "--yes", "--json"];
  expect((await runCli(system, ...forced)).json).toMatchObject({
    changed: true,
    key: { kid, state: "signing" },
  });

  const staged = await runCli(system, "keys", "stage", "--use", "admission", "--yes", "--json");
  expect(staged.json).toMatchObject({ changed: false, key: { state: "staged" } });

  const environment = environmentOf(system, "mint");
  if (environment === undefined) return; // where the system does not tell of other processes
  const [, url = ""] = /VESTIBULE_DATABASE_URL=([^\0]+)/.exec(environment) ?? [];
  const database = connectDatabase({ url, applicationName: "test" });
  const rows = await database.run(
    (sql) =>
      sql<
        { detail: object }[]
      >`select detail from audit_log where action = 'key-activate' order by id desc limit 1`,
  );
  await database.close();
  expect(rows[0]?.detail).toMatchObject({ kid, force: true, reason });
});

test("a rotation is interrupted and goes on: all state is the mint's", async () => {
  const done = await runCli(system, "keys", "rotate", "--use", "line", "--yes", "--json");
  expect(done.json).toMatchObject({ changed: true, key: { use: "line", state: "signing" } });
  const next = await key("line", "staged");
  const rotate = ["keys", "rotate", "--use", "line", "--yes", "--json"];
  for (let again = 0; again < 2; again += 1) {
    const run = startCli(system, rotate);
    await vi.waitFor(
      () => expect(run.err()).toContain(`${next.kid.slice(0, 8)} until it may sign`),
      {
        timeout: 20_000,
      },
    );
    run.child.kill("SIGINT");
    const stopped = await run.ended;
    expect(stopped.code).toBe(130);
    expect(stopped.err).toMatch(/Nothing is half done: the same command goes on/);
  }
  const list = await runCli(system, "keys", "list");
  expect(list.out).toContain(`${next.kid.slice(0, 8)}  staged`);
  expect((await runCli(system, "edges")).code).toBe(0);
});
