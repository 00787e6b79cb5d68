import { startLocalValkey } from "@vestibule/testkit/valkey-server";
import { useLocalValkey } from "@vestibule/testkit/local-valkey";
import { expect, onTestFinished, test } from "vitest";

import { createValkeyTokenBucket } from "../src/valkey-token-bucket.ts";
import { openUp, outcomeOf } from "./support/open-client.ts";

const policy = { name: "purchase", capacity: 10, refillMs: 60_000 };
// Skips these tests where no server is installed.
useLocalValkey();

test("a server that becomes a node of a cluster, and a plain server again, is used each time", async () => {
  const server = await startLocalValkey();
  onTestFinished(() => server.stop());
  const { client, said } = await openUp(server.url);
  const bucket = createValkeyTokenBucket(client);
  const modes = () =>
    said.filter(({ event }) => event === "store-connected").map(({ fields }) => fields["mode"]);
  const taken = async () => (await outcomeOf(() => bucket.take(policy, "someone"))).value?.allowed;
  expect(await taken()).toBe(true);

  await server.restart({ cluster: true });
  await expect.poll(taken, { timeout: 5_000 }).toBe(true);
  expect(modes().at(-1)).toBe("cluster");

  await server.restart({ cluster: false });
  await expect.poll(taken, { timeout: 5_000 }).toBe(true);
  expect(modes().at(-1)).toBe("single");
});
