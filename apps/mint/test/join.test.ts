import { verifyTicket } from "@vestibule/token/verify-ticket";
import { describe, expect, it } from "vitest";
import { signTicket } from "@vestibule/token/sign";
import { epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { subOf } from "../src/keys/signing-desk.ts";
import { codeOf, ISSUER, memoryWorld, payload } from "./support/world.ts";

describe("joining", () => {
  it("law 1: 200 fans at once get 200 numbers, without a gap", async () => {
    const world = await memoryWorld();
    const fans = await Promise.all(Array.from({ length: 200 }, () => world.join()));
    const numbers = fans.map(({ place }) => place.number).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });

  it("law 1: one visitor who joins 200 times at once gets one number", async () => {
    const world = await memoryWorld();
    const fan = world.fan();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => world.mint.join("spring", { visitor: fan.visitor })),
    );
    expect(new Set(answers.map(({ answer }) => answer.number))).toEqual(new Set([1]));
    expect(answers.filter(({ fresh }) => fresh)).toHaveLength(1);
  });

  it("signs a ticket that the verifier of the edge takes, for this visitor only", async () => {
    const world = await memoryWorld();
    const { visitor, place } = await world.join();
    const options = {
      keys: world.ring.verify,
      issuer: ISSUER,
      event: "spring",
      now: world.clock.now(),
      skewSeconds: 5,
    };
    expect(await verifyTicket(place.ticket, { ...options, visitor })).toMatchObject({
      ok: true,
      value: { number: 1 },
    });
    const other = world.fan().visitor;
    expect(await verifyTicket(place.ticket, { ...options, visitor: other })).toMatchObject({
      ok: false,
    });
  });

  it("gives a place back to whoever shows its ticket, however long after", async () => {
    const world = await memoryWorld({ ratePerMinute: 1 });
    await world.joinMany(100);
    const fan = await world.join();
    await world.pass(120_000);
    const { fresh, answer } = await world.mint.join("spring", {
      visitor: fan.visitor,
      ticket: fan.place.ticket,
    });
    expect(fresh).toBe(false);
    expect(answer.number).toBe(fan.place.number);
    expect(answer.issuedAt).toBeGreaterThan(fan.place.issuedAt);
  });

  it("gives a place back when the event's end was moved after its ticket was signed", async () => {
    const soon = 1_767_225_600_000 + 60_000;
    const world = await memoryWorld({ endsAt: soon, ratePerMinute: 1 });
    await world.joinMany(50);
    const fan = await world.join();
    const { changeSettings } = await import("../src/line/organizer.ts");
    const deed = { actor: "test" };
    await changeSettings(world.line, { endsAt: soon + 3_600_000 }, deed);
    await world.pass(120_000);
    const again = await world.join(world.fan(), fan.place.ticket);
    expect(again.place.number).not.toBe(fan.place.number);
    const back = await world.mint.join("spring", {
      visitor: fan.visitor,
      ticket: fan.place.ticket,
    });
    expect(back.answer.number).toBe(fan.place.number);
  });

  it("takes a ticket of another visitor, event or signer for none at all", async () => {
    const world = await memoryWorld();
    const stranger = await world.join();
    expect((await world.join(world.fan(), stranger.place.ticket)).place.number).toBe(2);
    const fan = world.fan();
    const claims = {
      issuer: ISSUER,
      event: "autumn",
      sub: subOf(fan.visitor).text,
      iat: epochSeconds(Math.floor(world.clock.now() / 1_000)),
      exp: epochSeconds(4_000_000_000),
      place: { number: ticketNumber(1) },
    };
    const foreign = await signTicket(world.ring.signing.line, claims);
    expect((await world.join(fan, foreign)).place.number).toBe(3);
    expect((await world.join(world.fan(), "no.ticket.atall")).place.number).toBe(4);
  });

  it("sends whoever missed their slot to the end, and gives no dead place back", async () => {
    const world = await memoryWorld({ claimWindowSeconds: 5, lifetimeSeconds: 10 });
    const fan = await world.join();
    await world.tick();
    await world.pass(8_000);
    const back = await world.mint.join("spring", {
      visitor: fan.visitor,
      ticket: fan.place.ticket,
    });
    expect(back).toMatchObject({ fresh: true, answer: { number: 2 } });
  });

  it("gives the place back while its claimed slot is open", async () => {
    const world = await memoryWorld({ claimWindowSeconds: 5, lifetimeSeconds: 60 });
    const fan = await world.join();
    await world.tick();
    await world.claim(fan);
    await world.pass(30_000);
    const back = await world.mint.join("spring", {
      visitor: fan.visitor,
      ticket: fan.place.ticket,
    });
    expect(back).toMatchObject({ fresh: false, answer: { number: 1 } });
  });

  it("MH-07: joins that are refused use up no number", async () => {
    const start = 1_767_225_600_000;
    const world = await memoryWorld({ joinableAt: start + 60_000, startsAt: start + 120_000 });
    const early = await world.mint
      .join("spring", { visitor: world.fan().visitor })
      .catch((error: unknown) => error);
    expect(early).toMatchObject({
      code: "too-early",
      retryAfterSeconds: 60,
      extensions: { joinableAt: start + 60_000 },
    });
    for (let index = 0; index < 100; index += 1) {
      expect(await codeOf(world.mint.join("summer", { visitor: world.fan().visitor }))).toBe(
        "event-not-found",
      );
      expect(await codeOf(world.join())).toBe("too-early");
    }
    await world.pass(60_000);
    expect((await world.join()).place.number).toBe(1);
    expect((await world.drip()).state).toBe("prequeue");
  });

  it("refuses joins of an event that is sold out or has ended, each with its own code", async () => {
    const { declareSoldout, end } = await import("../src/line/organizer.ts");
    const world = await memoryWorld();
    const deed = { actor: "test" };
    const fan = await world.join();
    await declareSoldout(world.line, deed);
    expect(await codeOf(world.join())).toBe("sold-out");
    await end(world.line, deed);
    expect(await codeOf(world.join())).toBe("event-ended");
    expect(await codeOf(world.join(fan, fan.place.ticket))).toBe("event-ended");
    expect(await codeOf(world.claim(fan))).toBe("event-ended");
  });

  it("answers 503 in a standby, for everything that grants", async () => {
    const world = await memoryWorld();
    const fan = await world.join();
    world.term?.abandon();
    world.term = undefined;
    expect(await codeOf(world.join())).toBe("unavailable");
    expect(await codeOf(world.claim(fan))).toBe("unavailable");
  });

  it("keeps every token of the longest names below what a verifier looks at", async () => {
    const event = "a".repeat(64);
    const issuer = `https://${"i".repeat(192)}`;
    const { ISSUER_CHARS_MAX } = await import("../src/limits.ts");
    expect(issuer).toHaveLength(ISSUER_CHARS_MAX);
    const { signingDesk } = await import("../src/keys/signing-desk.ts");
    const world = await memoryWorld();
    const desk = signingDesk({ issuer, skewSeconds: 5, ring: () => world.ring });
    const far = epochSeconds(253_402_300_799);
    const common = { event, sub: subOf("x").text, n: Number.MAX_SAFE_INTEGER, iat: far };
    const ticket = await desk.ticket({ ...common, exp: far });
    const admission = await desk.admission({
      ...common,
      opensAt: world.clock.now(),
      lifetimeSeconds: 86_400,
    });
    expect(Math.max(ticket.length, admission.length)).toBeLessThan(1_024);
    expect(payload(admission)).toMatchObject({ aud: event, act: "purchase" });
  });
});
