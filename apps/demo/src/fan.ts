/**
 * One synthetic fan: does what the holding page does, over the edge's real endpoints in token
 * mode (an app without cookies), and checks what it sees.
 */
import type { EdgeClaimAnswer, EdgeJoinAnswer } from "@vestibule/contracts/line-api";
import {
  ADMISSION_HEADER,
  EDGE_PREFIX,
  IDEMPOTENCY_KEY_HEADER,
  MODE_HEADER,
  TICKET_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import { PROBLEM_TYPE_PREFIX } from "@vestibule/contracts/problems";
import type { PurchaseAnswer } from "@vestibule/contracts/purchase-api";
import type { DripView } from "@vestibule/contracts/statements";
import { soonestTurnMs } from "@vestibule/drip/estimate";
import { lastCallInMs } from "@vestibule/drip/last-call";
import { slotOf } from "@vestibule/drip/line";
import { pollDelayMs } from "@vestibule/drip/poll";

import type { Checks } from "./checks.ts";
import { type Http, type HttpAnswer, type HttpRequest, jsonOf, retryAfterMs } from "./http.ts";
import { CLAIM_WINDOW_SECONDS } from "./sale.ts";

/** Where a fan stands: what the display counts. */
export type FanState = "joining" | "waiting" | "inside" | "bought" | "left";

export interface FanWorld {
  readonly http: Http;
  readonly edgeUrl: string;
  readonly event: string;
  readonly eventPath: string;
  readonly sku: string;
  readonly checks: Checks;
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Rejects when the crowd is sent home. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly newKey: () => string;
  /** Every answer to a purchase, in a word or two. */
  readonly onPurchase: (outcome: string) => void;
}

/** How people are: a share each. */
const HABITS = {
  noShow: 0.15,
  onlyLook: 0.08,
  tryEarly: 0.05,
  askAgain: 0.08,
  spendTwice: 0.08,
  /** Of those who are asked whether they are there. */
  claimUnsaid: 0.1,
  /** Of those who wait when it is sold out; the others hope that seats come back. */
  goesHome: 0.3,
};
const claimWindowMs = CLAIM_WINDOW_SECONDS * 1000;
/** The tolerance of verifiers is 5 s: who comes earlier than this must be refused. */
const SURELY_EARLY_MS = 8_000;
const RETRIES_MAX = 8;
/** How long somebody hopes. */
const HOPE_MS = 15 * 60_000;
/** A sale may sell out and reopen between the look and the claim. */
const CLAIMS_MAX = 20;
const SHOPPING_MS = { min: 1_000, max: 7_000 };
/** From the question to the press of "I'm here"; no-shows do not press. */
const PRESS_MS = { min: 500, max: 8_000 };

interface Place {
  readonly number: number;
  readonly visitor: string;
  readonly ticket: string;
}

/** Lives one fan's visit to its end. Rejects only when `sleep` does. */
export async function visit(world: FanWorld, onState: (state: FanState) => void): Promise<void> {
  const { random, checks, now } = world;
  onState("joining");
  const place = await join(world);
  if (place === undefined) return onState("left");
  onState("waiting");
  const claim = await waitAndClaim(world, place);
  if (claim === undefined) return onState("left");
  const headers = { [ADMISSION_HEADER]: claim.admission, [VISITOR_HEADER]: place.visitor };
  if (claim.opensAt - now() > SURELY_EARLY_MS && random() < HABITS.tryEarly) {
    checks.triedEarly({ number: place.number, letIn: await enter(world, headers) });
  }
  await world.sleep(claim.opensAt - now() + random() * 300);
  const letIn = await enter(world, headers);
  if (letIn) checks.entered({ number: place.number, opensAt: claim.opensAt, at: now() });
  if (!letIn) return onState("left");
  onState("inside");
  await world.sleep(SHOPPING_MS.min + random() * (SHOPPING_MS.max - SHOPPING_MS.min));
  if (random() < HABITS.onlyLook) return onState("left");
  onState((await buy(world, place, headers)) ? "bought" : "left");
}

async function join(world: FanWorld): Promise<Place | undefined> {
  const answer = await insist(world, () => ({
    method: "POST",
    url: endpoint(world, "tickets"),
    headers: { [MODE_HEADER]: "token" },
    body: {},
  }));
  const joined = answer !== undefined && answer.status < 300 ? jsonOf(answer) : undefined;
  const { number, visitor, ticket } = (joined ?? {}) as Partial<EdgeJoinAnswer>;
  if (number === undefined || visitor === undefined || ticket === undefined) return undefined;
  world.checks.joined(number);
  return { number, visitor, ticket };
}

interface Claim {
  readonly opensAt: number;
  readonly admission: string;
}

/** Undefined: gone home, by choice or because nothing is left. */
async function waitAndClaim(world: FanWorld, place: Place): Promise<Claim | undefined> {
  const comes = world.random() >= HABITS.noShow;
  for (let claims = 0; claims < CLAIMS_MAX; claims += 1) {
    const slot = await waitForSlot(world, place);
    if (slot === undefined || !comes) return undefined;
    if (slot.asks) {
      if (world.random() < HABITS.claimUnsaid) await claimUnsaid(world, place);
      await world.sleep(PRESS_MS.min + world.random() * (PRESS_MS.max - PRESS_MS.min));
    }
    const claim = await claimSlot(world, place, slot.asks);
    if (claim === undefined) return undefined;
    if (claim === "not-now") {
      // Sold out in this moment, or asked since the look; the place is kept. The line itself says so within two seconds.
      await world.sleep(pollDelayMs({ random: world.random(), claimWindowMs, soonestMs: 0 }));
      continue;
    }
    await checkClaim(world, place, slot, claim);
    return claim;
  }
  return undefined;
}

/** Whoever got another slot than was announced looks whether a hold came between. */
async function checkClaim(
  world: FanWorld,
  { number }: Place,
  { announced, announcedAt }: Slot,
  { opensAt }: Claim,
): Promise<void> {
  if (announced === "on-demand") return;
  const isOther = opensAt !== announced;
  const cuts = isOther ? ((await viewSince(world, world.now()))?.cuts ?? []) : [];
  world.checks.claimed({ number, announced, announcedAt, opensAt, cuts });
}

/** What the line says of itself at `at` or later; undefined when it keeps silent for long. The mint's clock is this machine's. */
async function viewSince(world: FanWorld, at: number): Promise<DripView | undefined> {
  for (let looks = 0; looks < RETRIES_MAX; looks += 1) {
    await world.sleep(pollDelayMs({ random: world.random(), claimWindowMs, soonestMs: 0 }));
    const view = await look(world);
    if (view !== undefined && view.at >= at) return view;
  }
  return undefined;
}

async function look(world: FanWorld): Promise<DripView | undefined> {
  const answer = await attempt(world, { url: endpoint(world, "drip") });
  return answer?.status === 200 ? (jsonOf(answer) as DripView | undefined) : undefined;
}

interface Slot {
  /** Its opening, epoch milliseconds. */
  readonly announced: number | "on-demand";
  /** When the mint said so, epoch milliseconds. */
  readonly announcedAt: number;
  /** A claim counts only when the fan says that they are there. */
  readonly asks: boolean;
}

/** Polls the drip as the page does until this number has its time; "on-demand": the line passed it without one. */
async function waitForSlot(world: FanWorld, place: Place): Promise<Slot | undefined> {
  let failures = 0;
  let hopesUntil: number | undefined;
  for (;;) {
    const view = await look(world);
    if (view === undefined) {
      failures += 1;
      await world.sleep(pollDelayMs({ random: world.random(), claimWindowMs, failures }));
      continue;
    }
    failures = 0;
    if (view.state === "ended") return undefined;
    const now = world.now();
    const soonestMs = soonestTurnMs(place.number, view, now);
    if (view.state === "soldout") {
      hopesUntil ??= now + (world.random() < HABITS.goesHome ? 0 : HOPE_MS);
      if (now >= hopesUntil) return undefined;
      await world.sleep(pollDelayMs({ random: world.random(), claimWindowMs, soonestMs }));
      continue;
    }
    hopesUntil = undefined;
    const opensAt = slotOf(view.segments, place.number, view);
    const said = { announcedAt: view.at, asks: view.presence === "confirm" };
    if (opensAt !== undefined) return { announced: opensAt, ...said };
    if (view.committed >= place.number && view.heldSince === undefined) {
      return { announced: "on-demand", ...said };
    }
    const lastCall = lastCallInMs(view, now);
    await world.sleep(
      pollDelayMs({ random: world.random(), claimWindowMs, soonestMs, lastCallInMs: lastCall }),
    );
  }
}

function claimOf(world: FanWorld, place: Place, confirmed: boolean): HttpRequest {
  return {
    method: "POST",
    url: endpoint(world, "admissions"),
    headers: {
      [MODE_HEADER]: "token",
      [TICKET_HEADER]: place.ticket,
      [VISITOR_HEADER]: place.visitor,
    },
    body: confirmed ? { confirmed } : {},
  };
}

/** As a page would that claims by itself; unless the organizer asks no more, it must come to nothing. */
async function claimUnsaid(world: FanWorld, place: Place): Promise<void> {
  const answer = await attempt(world, claimOf(world, place, false));
  if (answer === undefined) return;
  const admitted = answer.status === 201 && (await waitForSlot(world, place))?.asks === true;
  world.checks.claimedUnsaid({ number: place.number, admitted });
}

async function claimSlot(
  world: FanWorld,
  place: Place,
  confirmed: boolean,
): Promise<Claim | "not-now" | undefined> {
  const answer = await insist(world, () => claimOf(world, place, confirmed));
  const code = answer === undefined ? "" : codeOf(answer);
  if (code === "sold-out" || code === "confirm-presence") return "not-now";
  const claim = answer?.status === 201 || answer?.status === 200 ? jsonOf(answer) : undefined;
  const { opensAt, admission } = (claim ?? {}) as Partial<EdgeClaimAnswer>;
  return opensAt === undefined || admission === undefined ? undefined : { opensAt, admission };
}

/** True when the shop's page came, not the waiting room: a script is told 429 by the latter. */
async function enter(world: FanWorld, headers: Record<string, string>): Promise<boolean> {
  const answer = await attempt(world, {
    url: world.edgeUrl + world.eventPath,
    headers: { ...headers, Accept: "application/json, text/html;q=0.5" },
  });
  return answer?.status === 200;
}

async function buy(
  world: FanWorld,
  place: Place,
  headers: Record<string, string>,
): Promise<boolean> {
  const { random, checks } = world;
  const send = (key: string, quantity: number) => ({
    method: "POST" as const,
    url: endpoint(world, "purchases"),
    headers: { ...headers, [IDEMPOTENCY_KEY_HEADER]: key },
    body: { sku: world.sku, quantity },
  });
  const answered = (answer: HttpAnswer): void => world.onPurchase(outcomeOf(answer));
  for (const quantity of random() < 0.4 ? [2, 1] : [1]) {
    const key = world.newKey();
    const answer = await insist(world, () => send(key, quantity), answered);
    if (answer === undefined) return false;
    if (codeOf(answer) === "sold-out" && quantity > 1) continue;
    if (answer.status !== 201) return false;
    const { orderId = "" } = (jsonOf(answer) ?? {}) as Partial<PurchaseAnswer>;
    checks.boughtSeats({ number: place.number, orderId, quantity });
    if (random() < HABITS.askAgain) {
      const again = await insist(world, () => send(key, quantity));
      if (again !== undefined) {
        const order = (jsonOf(again) ?? {}) as Partial<PurchaseAnswer>;
        checks.repeated({ number: place.number, orderId: order.orderId });
      }
    }
    if (random() < HABITS.spendTwice) {
      const second = await insist(world, () => send(world.newKey(), 1), answered);
      if (second !== undefined) {
        checks.triedTwice({ number: place.number, sold: second.status < 300 });
      }
    }
    return true;
  }
  return false;
}

/** Tries again, with the same request, what was lost, too early or refused for now. */
async function insist(
  world: FanWorld,
  request: () => HttpRequest,
  onAnswer?: (answer: HttpAnswer) => void,
): Promise<HttpAnswer | undefined> {
  for (let tries = 0; tries < RETRIES_MAX; tries += 1) {
    const answer = await attempt(world, request());
    if (answer !== undefined) onAnswer?.(answer);
    const forNow = answer === undefined || [425, 429, 502, 503, 504].includes(answer.status);
    if (!forNow) return answer;
    const waitMs = answer === undefined ? 1_000 : retryAfterMs(answer, { atMost: 30_000 });
    await world.sleep(waitMs * (1 + world.random() / 2));
  }
  return undefined;
}

async function attempt(world: FanWorld, request: HttpRequest): Promise<HttpAnswer | undefined> {
  try {
    return await world.http.send(request);
  } catch {
    return undefined; // a network that failed: what a phone sees every day
  }
}

function endpoint(world: FanWorld, what: string): string {
  return `${world.edgeUrl}${EDGE_PREFIX}/events/${world.event}/${what}`;
}

const OUTCOMES = new Map([
  ["sold-out", "found it sold out"],
  ["already-spent", "second tries refused"],
  ["unavailable", "told to try again"],
  ["too-many-requests", "told to slow down"],
  ["held", "told it is paused"],
]);

function outcomeOf(answer: HttpAnswer): string {
  if (answer.status === 201) return "bought";
  const code = codeOf(answer);
  return OUTCOMES.get(code) ?? `${answer.status} ${code}`;
}

/** What the problem document is about; empty when it is none. */
function codeOf(answer: HttpAnswer): string {
  const { type } = (jsonOf(answer) ?? {}) as { type?: unknown };
  return typeof type === "string" ? type.replace(PROBLEM_TYPE_PREFIX, "") : "";
}
