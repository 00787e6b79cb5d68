import { connect } from "node:net";

import { expect, test } from "vitest";

import { useLocalValkey } from "../src/local-valkey.ts";
import { startLocalValkey } from "../src/valkey-server.ts";

const server = useLocalValkey();

function greet(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.once("error", (error) => resolve(error.message));
  });
}

test("a server has a password of its own and lets nobody in without it", async () => {
  expect(await greet(server().port)).toMatch(/^-NOAUTH/);
  expect(await server().command("PING")).toBe("PONG");
  expect(server().password.length).toBeGreaterThanOrEqual(32);
  await expect(server().command("NO SUCH")).rejects.toThrow(/unknown command/);
});

test("it keeps nothing, and comes back empty on the same port", async () => {
  await server().command("SET", "here", "1");
  const { port } = server();
  await server().restart();
  expect(server().port).toBe(port);
  expect(await server().command("EXISTS", "here")).toBe(0);
  expect(await server().command("CONFIG", "GET", "save")).toEqual(["save", ""]);
});

test("killed it answers nobody; stopped in between it answers when it goes on", async () => {
  const other = await startLocalValkey({ maxmemory: "8mb", policy: "allkeys-lru" });
  expect(await other.command("CONFIG", "GET", "maxmemory")).toEqual(["maxmemory", "8388608"]);
  other.pause();
  const late = other.command("PING");
  other.resume();
  expect(await late).toBe("PONG");
  await other.kill();
  expect(await greet(other.port)).toContain("ECONNREFUSED");
  await other.stop();
});

test("a replica follows its primary", async () => {
  const replica = await startLocalValkey({ replicaOf: server() });
  expect(String(await replica.command("INFO", "replication"))).toContain("role:slave");
  await replica.stop();
});
