/** A flood of made-up `kid`s leaves nothing behind, and asks for little. */
import { setImmediate as turn } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { JWKS_COOLDOWN_MS, JWKS_REFRESH_MS } from "@vestibule/contracts/limits";
import { createMintFeed, type MintFeed } from "@vestibule/feed/mint-feed";
import { ok } from "@vestibule/kernel/result";
import { addMs, type EpochMs, epochMs } from "@vestibule/kernel/units";
import { importPrivateJwk } from "@vestibule/keys/signing-key";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import { expect, test } from "vitest";

const NOW = epochMs(1_800_000_000_000);
const FLOOD = 50_000;
const HEAP_BYTES_MAX = 2 ** 20;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

async function location(): Promise<{ feed: MintFeed; asked: () => number }> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const read = await importPrivateJwk(await crypto.subtle.exportKey("jwk", pair.privateKey));
  if (!read.ok) throw new Error(read.refusal);
  const text = JSON.stringify({ seq: 1, keys: [read.value.publicJwk] });
  let asked = 0;
  const feed = createMintFeed({
    mintUrls: ["https://mint.example"],
    ...{ issuer: "https://mint.example", skewSeconds: 5 },
    fetchText: async () => {
      asked += 1;
      return ok({ text, roundTripMs: 1 });
    },
    sleep: () => new Promise((resolve) => void turn(resolve)),
  });
  return { feed, asked: () => asked };
}

const junk = (n: number): string => {
  const kid = String(n).padStart(43, "k");
  const header = { alg: "Ed25519", typ: "vst-admission+jwt", kid };
  return `${Buffer.from(JSON.stringify(header)).toString("base64url")}.e30.${"A".repeat(86)}`;
};

/** What every verifier of ours does about it. */
async function show(feed: MintFeed, text: string, now: EpochMs): Promise<void> {
  for (let looked = false; ; looked = true) {
    if (feed.refreshDue("keys", now)) await feed.refresh("keys", now);
    const keys = feed.keys(now);
    if (keys === undefined) throw new Error("no keys");
    const read = await verifyAdmission(text, {
      ...{ keys, now, issuer: "https://mint.example", event: "spring", visitor: undefined },
      ...{ skewSeconds: 5, lifetimeSeconds: 600, action: "purchase" },
    });
    if (read.ok || read.refusal.reason !== "unknown-key") throw new Error("not unknown");
    if (looked || !(await feed.newerKeys(now))) return;
  }
}

/** How much more there is on the heap after a flood, a thousand a second. */
async function grown(
  { feed }: { feed: MintFeed },
  keep: (text: string) => void = () => {},
): Promise<number> {
  let before = 0;
  for (let n = 0; n < FLOOD; n += 1) {
    // What is made once is there by then.
    if (n === FLOOD / 10) before = heapBytes();
    const text = junk(n);
    keep(text);
    await show(feed, text, addMs(NOW, n));
  }
  return heapBytes() - before;
}

test("KR-01: 50,000 made-up kids leave nothing behind in memory, and ask for no more than the cool-down allows", async () => {
  const one = await location();
  expect(await grown(one)).toBeLessThan(HEAP_BYTES_MAX);
  expect(one.asked()).toBeLessThanOrEqual(
    2 + Math.floor(FLOOD / JWKS_COOLDOWN_MS) + Math.floor(FLOOD / JWKS_REFRESH_MS),
  );
  expect(one.feed.health(addMs(NOW, FLOOD)).keyIds).toHaveLength(1);
});

test("canary: the heap shows it when the kids are remembered", async () => {
  const kept = new Set<string>();
  expect(await grown(await location(), (text) => kept.add(text))).toBeGreaterThan(HEAP_BYTES_MAX);
  expect(kept.size).toBe(FLOOD);
});
