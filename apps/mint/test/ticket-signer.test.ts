import { epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { signTicket } from "@vestibule/token/sign";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { subOf } from "../src/keys/signing-desk.ts";
import { ticketSigner } from "../src/keys/ticket-signer.ts";
import { hashVisitor } from "@vestibule/token/visitor";
import { memoryWorld } from "./support/world.ts";

const second = fc.integer({ min: 0, max: 253_402_300_799 });

describe("the mint's own signer of tickets", () => {
  it("makes the same text as packages/token, byte for byte", async () => {
    const {
      signing: { line: signing },
    } = (await memoryWorld()).ring;
    const claims = fc.record({
      issuer: fc.oneof(fc.webUrl(), fc.string({ unit: "binary" })),
      event: fc.stringMatching(/^[a-z0-9]{1,20}(?:-[a-z0-9]{1,20})?$/),
      visitor: fc.string(),
      n: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      iat: second,
      exp: second,
    });
    await fc.assert(
      fc.asyncProperty(claims, async ({ issuer, event, visitor, n, iat, exp }) => {
        const times = { iat: epochSeconds(iat), exp: epochSeconds(exp) };
        const sub = subOf(visitor).text;
        const place = { number: ticketNumber(n) };
        const theirs = await signTicket(signing, { issuer, event, sub, place, ...times });
        expect(await ticketSigner(issuer)(signing, { event, sub, n, ...times })).toBe(theirs);
      }),
    );
  });

  it("knows a visitor by the same hash as packages/token, as text and as words", () => {
    fc.assert(
      fc.property(fc.string(), (visitor) => {
        const { text, words } = subOf(visitor);
        expect(text).toBe(hashVisitor(visitor));
        expect(Buffer.from(words.buffer).toString("base64url")).toBe(text);
      }),
    );
  });
});
