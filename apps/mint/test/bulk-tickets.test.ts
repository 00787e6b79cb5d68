import { generateKeyPair } from "@vestibule/keys/key-pair";
import { importPrivateJwk } from "@vestibule/keys/signing-key";
import { epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { signTicket } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";
import { describe, expect, it } from "vitest";
import { bulkThread } from "../src/keys/bulk-thread.ts";
import { type BulkOrder, bulkTickets } from "../src/keys/bulk-tickets.ts";

async function order(first: number, count: number): Promise<BulkOrder> {
  const pair = await importPrivateJwk((await generateKeyPair()).privateJwk);
  if (!pair.ok) throw new Error(pair.refusal);
  return {
    issuer: 'https://mint.example/"quoted"',
    key: pair.value.signingKey,
    event: "spring",
    first,
    subs: Array.from({ length: count }, (_, index) => hashVisitor(String(index))),
    iat: epochSeconds(1_700_000_000),
    exp: epochSeconds(1_800_000_000),
  };
}

/** By the signer of packages/token, one by one. */
async function expected({ issuer, key, event, first, subs, iat, exp }: BulkOrder) {
  const sign = (sub: string, index: number): Promise<string> =>
    signTicket(key, {
      issuer,
      event,
      sub,
      iat,
      exp,
      place: { number: ticketNumber(first + index) },
    });
  return { first, tickets: await Promise.all(subs.map(sign)) };
}

const read = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

describe("tickets of a batch", () => {
  it.each([
    [1, 1],
    [1, 1_000],
    [999_500, 1_000],
    [Number.MAX_SAFE_INTEGER - 3, 3],
  ])("are byte for byte those of signTicket: from %i on, %i of them", async (first, count) => {
    const batch = await order(first, count);
    expect(read(await bulkTickets(batch))).toEqual(await expected(batch));
  });

  it("come from a thread of its own just the same, several batches at once", async () => {
    const { tickets, close } = bulkThread(new URL("../src/main.ts", import.meta.url));
    try {
      const batches = await Promise.all([order(1, 300), order(301, 1_000), order(1_301, 1)]);
      const answers = await Promise.all(batches.map(tickets));
      expect(answers.map(read)).toEqual(await Promise.all(batches.map(expected)));
    } finally {
      await close();
    }
  });

  it("are refused for now when their thread dies, and the next batch has a new one", async () => {
    const { tickets } = bulkThread(new URL("data:text/javascript,process.exit(1)"));
    for (let round = 0; round < 2; round += 1)
      await expect(tickets(await order(1, 1))).rejects.toMatchObject({ code: "unavailable" });
  });
});
