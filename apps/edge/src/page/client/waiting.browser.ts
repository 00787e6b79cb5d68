/**
 * The page's own life: joins, listens, claims and moves in. Everything it does follows from what it
 * knows (`viewOf`); timers only say when to look again, so a page that slept does each thing once.
 */
import type { DripView } from "@vestibule/contracts/statements";
import { pollDelayMs } from "@vestibule/drip/poll";
import type { PageData } from "../markup.ts";
import { type Condition, type View, opensForJoins, viewOf } from "../view.ts";
import { wordsOf } from "../words.ts";
import { createLineClient } from "./line-client.browser.ts";
import { createMintTime } from "./mint-time.ts";
import { localFormats, paint } from "./paint.browser.ts";

/** Closer than this to its opening a slot is claimed at once. */
const CLAIM_NEAR_MS = 8_000;
/** After the line opens, joins come in over this time. */
const OPENING_SPREAD_MS = 1_500;
/** Moving in more often than this within a minute means that the browser does not keep the admission. */
const ENTERS_MAX = 3;
/** How far apart two clocks may drift between two ticks before the page takes it for a change of clock. */
const CLOCK_JUMP_MS = 2_000;

type Timer = "paint" | "poll" | "join" | "claim" | "enter";

export function startWaiting(data: PageData, receivedAt: number): void {
  const { settings } = data;
  const line = createLineClient(settings.event);
  const time = createMintTime(data.now, receivedAt);
  const formats = localFormats();
  const timers = new Map<Timer, number>();

  let number = data.number;
  let drip: DripView | undefined;
  let condition: Condition | undefined = data.condition;
  let claimed: { opensAt: number; closesAt: number } | undefined;
  let missed = false;
  let failures = 0;
  let joinsRefused = 0;
  let advisedMs = 0;
  let clockGap = Date.now() - performance.now();
  const busy = new Set<Timer>();

  const now = () => time.at(Date.now());
  const view = (): View =>
    viewOf({ settings, now: now(), number, drip, condition, missed, claimed });

  function later(timer: Timer, delayMs: number, work: () => unknown): void {
    clearTimeout(timers.get(timer));
    // A delay of more than 24 days overflows and fires at once.
    timers.set(timer, setTimeout(work, Math.min(Math.max(0, delayMs), 2e9)));
  }

  /** One at a time of each kind: waking up several times asks once. */
  async function once(timer: Timer, work: () => Promise<void>): Promise<void> {
    if (busy.has(timer)) return;
    busy.add(timer);
    try {
      await work();
    } finally {
      busy.delete(timer);
      update();
    }
  }

  function failed(status: number, retryAfterMs: number): void {
    failures += 1;
    advisedMs = retryAfterMs;
    if (!navigator.onLine) condition = "offline";
    else if (failures > 1 || status > 0) condition = "unreachable";
  }

  function heard(): void {
    failures = 0;
    advisedMs = 0;
    if (condition !== "cookies") condition = undefined;
  }

  const poll = () =>
    once("poll", async () => {
      const reply = await line.drip();
      if (!reply.ok) {
        failed(reply.status, reply.retryAfterMs);
        return;
      }
      heard();
      // An answer that was overtaken by a newer one takes nothing back (law 2).
      if (drip === undefined || reply.body.seq >= drip.seq) drip = reply.body;
      time.heard(drip.at, reply.receivedAt);
      const held = drip.heldSince;
      if (claimed !== undefined && held !== undefined && claimed.opensAt > held)
        claimed = undefined;
      const slot = view().slot;
      if (slot !== undefined && slot.opensAt !== claimed?.opensAt) claimed = undefined;
    });

  const join = () =>
    once("join", async () => {
      const reply = await line.join();
      if (reply.ok) {
        heard();
        // A new number starts anew; the same one again may have been missed for good.
        if (reply.body.number !== number) {
          claimed = undefined;
          missed = false;
        }
        number = reply.body.number;
        later("poll", 0, poll);
      } else if (reply.reason === "cookies-off") {
        joinsRefused += 1;
        if (joinsRefused > 1) condition = "cookies";
      } else if (reply.status === 410) {
        later("poll", 0, poll);
        advisedMs = 30_000;
        failures += 1;
      } else {
        failed(reply.status, reply.retryAfterMs);
      }
    });

  const claim = () =>
    once("claim", async () => {
      const reply = await line.claim();
      if (reply.ok) {
        heard();
        claimed = reply.body;
      } else if (reply.status === 410) {
        missed = true;
      } else if (reply.status === 403) {
        number = undefined; // the ticket is gone: ask for the place again
      } else if (reply.status === 425) {
        advisedMs = reply.retryAfterMs;
        later("poll", 0, poll);
      } else {
        failed(reply.status, reply.retryAfterMs);
      }
    });

  function enter(): void {
    const key = `vst-enter-${settings.event}`;
    let recent: number[] = [];
    try {
      const kept = JSON.parse(sessionStorage.getItem(key) ?? "[]") as number[];
      recent = kept.filter((at) => Math.abs(Date.now() - at) < 60_000);
      sessionStorage.setItem(key, JSON.stringify([...recent, Date.now()]));
    } catch {
      // without storage there is no count, and the browser's own limits hold
    }
    if (recent.length >= ENTERS_MAX) {
      condition = "cookies";
      update();
    } else if (location.pathname.startsWith("/_vestibule/")) location.replace(settings.homePath);
    else location.reload();
  }

  function planClaim(current: View): void {
    const { slot } = current;
    if (number === undefined || missed || busy.has("claim")) return;
    if (claimed !== undefined) {
      later("enter", claimed.opensAt - now() + Math.random() * 200, enter);
      return;
    }
    clearTimeout(timers.get("enter"));
    const owed =
      drip !== undefined &&
      slot === undefined &&
      current.state === "near" &&
      number <= drip.committed;
    if (slot === undefined && !owed) clearTimeout(timers.get("claim"));
    else if (failures > 0 || owed) later("claim", retryMs(), claim);
    else if (!timers.has("claim") || slot?.opensAt !== plannedFor) {
      // Spread over the time that is left, so that a committed piece of the line does not claim at once.
      const leftMs = (slot?.opensAt ?? 0) - now() - CLAIM_NEAR_MS;
      plannedFor = slot?.opensAt;
      later("claim", Math.random() * Math.max(0, leftMs), claim);
    }
  }
  let plannedFor: number | undefined;

  /** Between tries at a grant: soon at first, then less and less often, never in step. */
  function retryMs(): number {
    return Math.max(advisedMs, 1_500 * 2 ** Math.min(failures, 5)) * (1 + Math.random() / 2);
  }

  function planJoin(): void {
    if (number !== undefined || condition === "cookies" || busy.has("join")) return;
    const untilOpenMs = opensForJoins(settings) - now();
    if (untilOpenMs > 0) later("join", untilOpenMs + Math.random() * OPENING_SPREAD_MS, join);
    else if (failures > 0 || joinsRefused > 0) later("join", failures > 0 ? retryMs() : 0, join);
    else if (drip?.state !== "ended" && drip?.state !== "soldout") later("join", 0, join);
  }

  function planPoll(current: View): void {
    if (busy.has("poll") || current.state === "ended") return;
    const { slot, eta } = current;
    later(
      "poll",
      pollDelayMs({
        random: Math.random(),
        hidden: document.hidden,
        failures,
        advisedMs,
        ...(slot === undefined ? {} : { untilTurnMs: slot.opensAt - now() }),
        ...(eta === undefined ? {} : { etaFromMs: eta.fromMs }),
      }),
      poll,
    );
  }

  function repaint(): void {
    const gap = Date.now() - performance.now();
    if (Math.abs(gap - clockGap) > CLOCK_JUMP_MS) wake();
    clockGap = gap;
    const current = view();
    if (drip !== undefined || condition !== undefined || missed || number !== data.number) {
      paint(current, wordsOf(current, formats, data.title));
    }
    if (!document.hidden) later("paint", 1_000 - (now() % 1_000), repaint);
  }

  function update(): void {
    repaint();
    const current = view();
    planJoin();
    planClaim(current);
    planPoll(current);
  }

  function wake(): void {
    time.forget();
    later("poll", 0, poll);
    repaint();
  }

  document.getElementById("join")?.addEventListener("submit", (event) => {
    event.preventDefault();
    void join();
  });
  document.getElementById("enter")?.addEventListener("submit", (event) => {
    event.preventDefault();
    if (claimed === undefined) void claim();
    else enter();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) wake();
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) wake();
  });
  addEventListener("online", wake);
  addEventListener("offline", () => {
    condition = condition === "cookies" ? condition : "offline";
    repaint();
  });

  repaint();
  planJoin();
  later("poll", 0, poll);
}
