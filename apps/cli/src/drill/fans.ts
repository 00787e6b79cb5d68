/** Fans of the drill: each joins and claims as anybody does, at the mint or at a location. */
import { VISITOR_BYTES } from "@vestibule/contracts/limits";
import type { Randomness } from "@vestibule/kernel/randomness";
import { encodeBase64url } from "@vestibule/keys/base64url";
import { FAN_RETRY_MS_MAX, FAN_RETRY_MS_MIN, FAN_TRIES_MAX, FANS_AT_ONCE_MAX } from "../limits.ts";
import type { HttpAnswer, Send } from "../platform.ts";
import { oneLine } from "../terminal/words.ts";
import { bodyOf } from "./location.ts";
import { type Fan, fanOf } from "./shown.ts";

/** Where a fan joins and claims. `undefined`: no answer. */
export interface Door {
  readonly name: string;
  join(visitor: string): Promise<HttpAnswer | undefined>;
  claim(visitor: string, ticket: string): Promise<HttpAnswer | undefined>;
}

export function mintDoor(mintUrl: string, event: string, send: Send): Door {
  const post = async (what: string, body: object): Promise<HttpAnswer | undefined> => {
    try {
      return await send({ method: "POST", url: `${mintUrl}/v1/events/${event}/${what}`, body });
    } catch {
      return undefined;
    }
  };
  return {
    name: "the mint",
    join: (visitor) => post("tickets", { visitor }),
    claim: (visitor, ticket) => post("admissions", { visitor, ticket }),
  };
}

export interface FansOptions {
  readonly doors: readonly Door[];
  readonly randomness: Randomness;
  readonly sleep: (ms: number) => Promise<void>;
  readonly goesOn: () => boolean;
}

export class Fans {
  readonly #options: FansOptions;
  readonly #underWay = new Set<Promise<void>>();
  readonly admitted: Fan[] = [];
  /** How often each door let a fan through. */
  readonly through = new Map<Door, number>();
  /** Why the last one did not come through. */
  lastRefusal: string | undefined;
  #sent = 0;

  constructor(options: FansOptions) {
    this.#options = options;
  }

  /** One more, at the next door; none while enough are on their way. */
  send(): void {
    const { doors } = this.#options;
    const door = doors[this.#sent % doors.length];
    if (door === undefined || this.#underWay.size >= FANS_AT_ONCE_MAX) return;
    this.#sent += 1;
    const visit = this.#visit(door).finally(() => this.#underWay.delete(visit));
    this.#underWay.add(visit);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #visit(door: Door): Promise<void> {
    const visitor = encodeBase64url(this.#options.randomness.bytes(VISITOR_BYTES));
    const joined = await this.#insist(door, () => door.join(visitor));
    const ticket = joined?.["ticket"];
    if (typeof ticket !== "string") return;
    const claimed = await this.#insist(door, () => door.claim(visitor, ticket));
    const admission = claimed?.["admission"];
    if (typeof admission !== "string") return;
    const fan = fanOf({ visitor, ticket, admission });
    if (fan === undefined) return;
    this.admitted.push(fan);
    this.through.set(door, (this.through.get(door) ?? 0) + 1);
  }

  /** Comes back while it is told to: too early, busy, not known yet. */
  async #insist(
    door: Door,
    ask: () => Promise<HttpAnswer | undefined>,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { goesOn, sleep } = this.#options;
    for (let tries = 0; tries < FAN_TRIES_MAX && goesOn(); tries += 1) {
      const answer = await ask();
      if (answer !== undefined && answer.status < 300) return bodyOf(answer);
      const { title } = bodyOf(answer);
      const said = typeof title === "string" ? ` ${oneLine(title, 80)}` : "";
      this.lastRefusal = `${door.name}: ${answer === undefined ? "no answer" : `${answer.status}${said}`}`;
      const seconds = Number(answer?.headers.get("retry-after") ?? 0);
      // A location hears of a new rehearsal within seconds: until then it says that there is none.
      const waitMs = Number.isFinite(seconds) ? seconds * 1_000 : 0;
      await sleep(Math.min(FAN_RETRY_MS_MAX, Math.max(FAN_RETRY_MS_MIN, waitMs)));
    }
    return undefined;
  }
}
