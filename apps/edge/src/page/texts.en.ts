/** Every text of the holding page, in English. Another language is another file of this shape. */
import type { PageState } from "@vestibule/client/view";

const count = (n: number, one: string, many: string) => (n === 1 ? one : many);

export const texts = {
  lang: "en",
  place: "Your number",
  ahead: (n: number) => count(n, "person ahead", "people ahead"),
  nobodyAhead: { value: "Nobody", label: "ahead of you" },
  wait: "estimated wait",
  waitUnknown: "Not known yet",
  turnAt: "your turn",
  turnIn: "until your turn",
  startsAt: "start",
  opensAt: "the line opens",
  countdown: "to go",
  turnLeft: "left to go in",
  confirmLeft: "left to press",
  turnEnds: "your turn ends",
  lessThanMinute: "Under 1\u00a0min",
  minutes: (n: number) => `${n}\u00a0min`,
  minutesRange: (from: number, to: number) => `${from}–${to}\u00a0min`,
  hours: (n: number) => `${n}\u00a0h`,
  hoursRange: (from: number, to: number) => `${from}–${to}\u00a0h`,
  duration: (seconds: number) => {
    const minutes = Math.round(seconds / 60);
    if (seconds < 120) return `${seconds} ${count(seconds, "second", "seconds")}`;
    if (minutes < 120) return `${minutes} minutes`;
    return `${Math.round(minutes / 60)} hours`;
  },
  headline: {
    joining: "Getting your place in line",
    scheduled: "Not open yet",
    waiting: "You are in line",
    near: "Almost your turn",
    known: "Your turn is coming up",
    turn: "It is your turn",
    confirm: "Are you here?",
    passed: "Your place has been reached",
    owed: "You get the next turn",
    missed: "Your turn has passed",
    bought: "You have bought",
    credit: "Your turn is not lost",
    paused: "The sale is paused",
    soldout: "Sold out",
    ended: "This event has ended",
    unreachable: "We cannot reach the line right now",
    offline: "You are offline",
    clock: "A technical fault on our side",
    cookies: "Cookies are turned off",
  } satisfies Record<PageState, string>,
  lead: {
    joining: "This takes a moment.",
    scheduled: "Stay on this page: you get a place as soon as the line opens.",
    scheduledWithPlace: "The sale has not started. Your place is kept.",
    waiting: "You go in by yourself when it is your turn.",
    near: "Your exact time is about to be set.",
    turn: "You can go in now.",
    confirm: "Your turn is set. Press the button, or the next person goes ahead.",
    passed: "Let us see whether your turn is still there.",
    owed: "Its exact time is about to be set.",
    missed: "Its time is over, and the next person went ahead. You can join the line again.",
    bought: "Your place in line was good for one purchase, and you have made it.",
    credit:
      "Something went wrong on our side while you were buying, so you get the next free turn.",
    paused: "Nobody goes in at the moment. Your place is kept, and the line goes on from here.",
    soldout:
      "Everything is sold or reserved right now. Your place is kept: if something comes back, the line goes on by itself.",
    soldoutWithout:
      "Everything is sold or reserved right now. If something comes back, the line opens again on this page.",
    ended: "Thank you for your interest.",
    unreachable: "Your place is kept. This page keeps trying.",
    unreachableWithout: "This page keeps trying to get you a place.",
    clock:
      "A clock is wrong here, so nobody goes in until it is right again. Your place is kept, and this page goes on by itself.",
    clockWithout:
      "A clock is wrong here, so nobody goes in until it is right again. This page gets you a place, and goes on by itself.",
    offline: "Your place is kept. This page goes on when you are connected again.",
    cookies:
      "Your place is kept in a cookie. Allow cookies for this site, then load this page again.",
  },
  /** After the lead, for as long as it is so. */
  lastCall: "What is left may be gone soon.",
  /** Before the lead of whoever has a turn. */
  soldoutTurn: "Everything is sold or reserved right now, but something may come back.",
  slot: (lifetime: string, window: string) =>
    `Your turn lasts ${lifetime}. Come within ${window}, or the next person goes ahead and you would join again.`,
  /** For events that ask whether their fans are there, before the turn is set. */
  willAsk: (window: string) =>
    `When your turn comes up, this page asks whether you are here. Press the button within ${window}, or the next person goes ahead.`,
  confirmTurn: {
    headline: "It is your turn. Are you here?",
    lead: "Press the button to go in, or the next person goes ahead.",
  },
  confirmHurry: "There is not much time left.",
  said: {
    headline: "Thank you",
    lead: "This page takes your turn as soon as it can, and goes on by itself.",
  },
  saidSlot: (lifetime: string) =>
    `You have said that you are here, so you go in by yourself. Your turn lasts ${lifetime}.`,
  /** When there is no claim window besides the turn itself. */
  slotWhole: (lifetime: string) =>
    `Your turn lasts ${lifetime}; after that the next person goes ahead and you would join again.`,
  kept: "Reload or close this page as you like: your place stays yours on this device.",
  join: "Join the line",
  joinAgain: "Join the line again",
  enter: "Go in",
  confirm: "I’m here",
  take: "Take my turn",
  order: "To your order",
  again: "Look again",
  plainJoin: "Without JavaScript a place is taken with this button.",
  /** Said by the script of what it does. */
  byItself: "This page asks for it by itself.",
  plainTake: "Without JavaScript nothing happens by itself: press this button.",
  unsent:
    "What you just sent has not reached the shop, and is not kept. Please send it again when you are in.",
  plain: "Without JavaScript this page stays as it is. Look again now and then.",
  title: { turn: "Your turn!", place: (n: string) => `No. ${n} in line` },
};
