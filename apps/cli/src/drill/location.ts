/** A real location, as an app without cookies uses it. It is asked what it would do; the shop hears nothing. */
import {
  EDGE_PREFIX,
  ADMISSION_HEADER,
  MODE_HEADER,
  TICKET_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import { SKEW_SECONDS_DEFAULT } from "@vestibule/contracts/limits";
import { SHOWN_TO_LOCATION_MAX } from "../limits.ts";
import type { HttpAnswer, Send } from "../platform.ts";
import { oneLine } from "../terminal/words.ts";
import { ACCEPTED, type Checker, type SetMark, type Verdict, type Verdicts } from "./checker.ts";
import type { Door } from "./fans.ts";
import type { Shown } from "./shown.ts";

export class Location implements Checker, Door {
  readonly kind = "location";
  readonly isHeldBack = false;
  readonly fansMax = SHOWN_TO_LOCATION_MAX;
  /** Within the tolerance by default, as far as the drill knows. */
  readonly clock: Checker["clock"] = {
    aheadMsMin: -SKEW_SECONDS_DEFAULT * 1_000,
    aheadMsMax: SKEW_SECONDS_DEFAULT * 1_000,
    skewMs: SKEW_SECONDS_DEFAULT * 1_000,
  };
  readonly #url: string;
  readonly #event: string;
  readonly #send: Send;
  #location: string | undefined;
  #keyIds: readonly string[] = [];

  constructor(url: string, event: string, send: Send) {
    this.#url = url;
    this.#event = event;
    this.#send = send;
  }

  get name(): string {
    return this.#location === undefined ? this.#url : `${this.#location} (${this.#url})`;
  }

  async live(): Promise<void> {
    const health = await this.#ask({ url: `${this.#url}${EDGE_PREFIX}/health` });
    const { location, keys } = bodyOf(health) as { location?: unknown; keys?: { ids?: unknown } };
    if (typeof location === "string") this.#location = oneLine(location, 64);
    if (Array.isArray(keys?.ids)) this.#keyIds = keys.ids.map(String);
  }

  async check({ visitor, ticket, admission }: Shown): Promise<Verdicts> {
    const answer = await this.#ask({
      url: this.#endpoint("me"),
      headers: {
        [VISITOR_HEADER]: visitor,
        [TICKET_HEADER]: ticket,
        [ADMISSION_HEADER]: admission,
      },
    });
    if (answer?.status === 403) {
      const refused: Verdict = { kind: "refused", reason: "the ticket was refused" };
      // Nothing was said of the admission: without a ticket there is no such question.
      return { ticket: refused, admission: { kind: "unanswered", reason: refused.reason } };
    }
    if (answer?.status !== 200) return unanswered(answer);
    const { admitted } = bodyOf(answer);
    if (typeof admitted !== "boolean") {
      const reason = "this location is of a release that does not say whether it would admit";
      return { ticket: ACCEPTED, admission: { kind: "unanswered", reason } };
    }
    const refused: Verdict = { kind: "refused", reason: "not admitted" };
    return { ticket: ACCEPTED, admission: admitted ? ACCEPTED : refused };
  }

  hasSet({ staged }: SetMark): boolean {
    return staged !== undefined && this.#keyIds.includes(staged);
  }

  join(visitor: string): Promise<HttpAnswer | undefined> {
    return this.#post("tickets", { [VISITOR_HEADER]: visitor });
  }

  claim(visitor: string, ticket: string): Promise<HttpAnswer | undefined> {
    return this.#post("admissions", { [VISITOR_HEADER]: visitor, [TICKET_HEADER]: ticket });
  }

  #post(name: string, headers: Readonly<Record<string, string>>): Promise<HttpAnswer | undefined> {
    const url = this.#endpoint(name);
    return this.#ask({
      method: "POST",
      url,
      headers: { ...headers, [MODE_HEADER]: "token" },
      body: {},
    });
  }

  #endpoint(name: string): string {
    return `${this.#url}${EDGE_PREFIX}/events/${this.#event}/${name}`;
  }

  async #ask(request: Parameters<Send>[0]): Promise<HttpAnswer | undefined> {
    try {
      return await this.#send(request);
    } catch {
      return undefined;
    }
  }
}

function unanswered(answer: HttpAnswer | undefined): Verdicts {
  const said = answer === undefined ? "no answer" : `status ${answer.status}`;
  const verdict: Verdict = { kind: "unanswered", reason: said };
  return { ticket: verdict, admission: verdict };
}

export function bodyOf(answer: HttpAnswer | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(answer?.text ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
