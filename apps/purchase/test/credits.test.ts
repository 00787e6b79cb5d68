import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect, promisify } from "node:util";
import { generateKeyPair } from "@vestibule/keys/key-pair";
import { parseJwks } from "@vestibule/keys/key-set";
import { jwksDocument } from "@vestibule/keys/public-key";
import { epochMs, epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { silentLog } from "@vestibule/service/log";
import { admissionId } from "@vestibule/token/admission-id";
import { verifyCredit } from "@vestibule/token/verify-credit";
import { hashVisitor } from "@vestibule/token/visitor";
import { expect, test } from "vitest";
import { createCredits } from "../src/credits.ts";

const ISSUER = "https://mint.example";
const VISITOR = "A".repeat(43);
const NOW = epochMs(1_800_000_000_500);
const ADMITTED = {
  event: "spring",
  visitor: hashVisitor(VISITOR),
  jti: admissionId("spring", ticketNumber(7)),
  number: 7,
  slot: epochSeconds(1_799_999_900),
};
const run = promisify(execFile);

async function keysOf(jwks: unknown) {
  const read = await parseJwks(jwks);
  if (!read.ok) throw new Error(read.refusal.reason);
  return read.value;
}

test("a failed purchase's credit is what the mint verifies: this fan, this event, this number, this slot", async () => {
  const { privateJwk, publicJwk } = await generateKeyPair();
  const credits = await createCredits(JSON.stringify(privateJwk), {
    issuer: ISSUER,
    log: silentLog,
  });
  const credit = (await credits.for(ADMITTED, NOW)) ?? "";
  const keys = await keysOf(jwksDocument([publicJwk]));
  const rules = { keys, issuer: ISSUER, event: "spring", visitor: VISITOR, skewSeconds: 5 };
  expect(await verifyCredit(credit, { ...rules, now: NOW })).toEqual({
    ok: true,
    value: {
      ...{ event: "spring", number: 7, slot: ADMITTED.slot, sub: ADMITTED.visitor },
      ...{ jti: ADMITTED.jti, iat: 1_800_000_000, exp: 1_800_086_400, kid: publicJwk.kid },
    },
  });
  expect(await credits.for(ADMITTED, NOW)).toBe(credit);
});

test("without a key no credits are given, and nothing fails", async () => {
  const credits = await createCredits(undefined, { issuer: ISSUER, log: silentLog });
  expect(await credits.for(ADMITTED, NOW)).toBeUndefined();
});

test("what cannot be signed is told to the log, and fails no answer", async () => {
  const { privateJwk } = await generateKeyPair();
  const said: string[] = [];
  const log = { ...silentLog, error: (event: string) => void said.push(event) };
  const credits = await createCredits(JSON.stringify(privateJwk), { issuer: ISSUER, log });
  expect(await credits.for({ ...ADMITTED, number: -1 }, NOW)).toBeUndefined();
  expect(said).toEqual(["credit-not-signed"]);
});

test("a text that is no key stops the start, and no message shows any of it", async () => {
  const { privateJwk } = await generateKeyPair();
  const other = await generateKeyPair();
  const { d: _d, ...publicHalf } = privateJwk;
  const texts = [
    "",
    "null",
    "[]",
    privateJwk.d,
    JSON.stringify(privateJwk).slice(0, -1),
    JSON.stringify(publicHalf),
    JSON.stringify({ ...privateJwk, x: other.privateJwk.x }),
    JSON.stringify({ ...privateJwk, kty: "EC" }),
    JSON.stringify({ ...privateJwk, crv: "X25519" }),
    JSON.stringify({ ...privateJwk, d: `${privateJwk.d}AA` }),
  ];
  for (const text of texts) {
    const error: unknown = await createCredits(text, { issuer: ISSUER, log: silentLog }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    const shown = inspect(error, { depth: 9 });
    expect(shown).toContain("VESTIBULE_CREDIT_KEY");
    expect(shown).not.toContain(privateJwk.d.slice(0, 8));
  }
});

test("nothing of the key can be read from the credits in memory", async () => {
  const { privateJwk } = await generateKeyPair();
  const credits = await createCredits(JSON.stringify(privateJwk), {
    issuer: ISSUER,
    log: silentLog,
  });
  expect(inspect(credits, { depth: 9, showHidden: true })).not.toContain(privateJwk.d);
});

test("one line makes a pair: a private file for its owner alone, and the public set; it replaces nothing", async () => {
  const folder = await mkdtemp(join(tmpdir(), "vestibule-credit-"));
  try {
    const file = join(folder, "credit-key.json");
    const script = fileURLToPath(new URL("../src/make-credit-key/main.ts", import.meta.url));
    const { stdout } = await run(process.execPath, [script, file]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, "utf8");
    const secret = (JSON.parse(text) as { d: string }).d;
    expect(stdout).not.toContain(secret);
    const credit = await (
      await createCredits(text, { issuer: ISSUER, log: silentLog })
    ).for(ADMITTED, NOW);
    const keys = await keysOf(JSON.parse(stdout));
    const rules = { keys, issuer: ISSUER, event: "spring", visitor: VISITOR, skewSeconds: 5 };
    expect((await verifyCredit(credit ?? "", { ...rules, now: NOW })).ok).toBe(true);
    await expect(run(process.execPath, [script, file])).rejects.toThrow("EEXIST");
    expect(await readFile(file, "utf8")).toBe(text);
  } finally {
    await rm(folder, { recursive: true });
  }
});
