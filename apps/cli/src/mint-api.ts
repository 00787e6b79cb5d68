/** What is asked of a mint, and what its refusals mean. The token is in one header and nowhere else. */
import { type ArchiveAnswer, archiveAnswerSchema } from "@vestibule/contracts/archive-api";
import { type EdgesView, edgesViewSchema } from "@vestibule/contracts/edges-api";
import type { EventChange, EventSettings, Hold } from "@vestibule/contracts/event-settings";
import {
  type KeyOutcomeView,
  keyOutcomeSchema,
  type KeysView,
  keysViewSchema,
  type KeyStep,
} from "@vestibule/contracts/keys-api";
import {
  type PremintAnswer,
  premintAnswerSchema,
  type PremintClaimsAnswer,
  premintClaimsAnswerSchema,
  type PremintClaimsRequest,
} from "@vestibule/contracts/premint-api";
import { parse } from "@vestibule/contracts/parse";
import {
  type ServiceTokenAnswer,
  serviceTokenAnswerSchema,
  type ServiceTokenRequest,
} from "@vestibule/contracts/service-api";
import { previewSchema, type PreviewView } from "@vestibule/contracts/preview-api";
import { PROBLEM_TYPE_PREFIX } from "@vestibule/contracts/problems";
import { type DripClaims, dripClaimsSchema } from "@vestibule/contracts/statements";
import type { KeyUse } from "@vestibule/keys/public-key";
import * as z from "zod/mini";
import { CliFailure } from "./failure.ts";
import { type HttpAnswer, type HttpRequest, type Send, UnreachableError } from "./platform.ts";
import { VARIABLES, type Settings } from "./settings.ts";
import { oneLine } from "./terminal/words.ts";
import { partOf } from "./token-part.ts";

export type StepName = "activate" | "retire" | "revoke";

/** A refusal in the mint's own words: `code` is empty when it was no problem document. */
export class RefusedError extends CliFailure {
  readonly status: number;
  readonly code: string;
  readonly document: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    refusal: { status: number; code: string; document: Readonly<Record<string, unknown>> },
  ) {
    super(message, undefined, { status: refusal.status, code: refusal.code });
    this.status = refusal.status;
    this.code = refusal.code;
    this.document = refusal.document;
  }
}

/** Nobody answers, or a mint that does not lead: worth another try. */
export class AwayError extends CliFailure {}

/** When the answer was asked for and came, by this machine's clock, beside its body. */
export interface Timed<Body> {
  readonly body: Body;
  readonly roundTripMs: number;
}

const eventViewSchema = z.object({
  event: z.string(),
  version: z.int(),
  state: z.string(),
  rehearsal: z.optional(z.boolean()),
  hosts: z.array(z.string()),
  lifetimeSeconds: z.int(),
  createdAt: z.int(),
  endsAt: z.int(),
  endedAt: z.optional(z.int()),
  heldSince: z.optional(z.int()),
  heldScope: z.optional(z.string()),
  heldReason: z.optional(z.string()),
});
export type EventView = z.infer<typeof eventViewSchema>;

const count = z.int();
/** An event with all that people are shown of it. */
const eventFiguresSchema = z.looseObject({
  ...{ event: z.string(), version: count, title: z.string(), state: z.string() },
  ...{ rate: count, approximationBudget: count, overdrivePercent: count, horizonSeconds: count },
  ...{ claimWindowSeconds: count, lifetimeSeconds: count, maxAdmissions: z.nullable(count) },
  ratePlan: z.array(z.unknown()),
  presence: z.optional(z.string()),
  bypass: z.optional(z.array(z.unknown())),
  startsAt: z.optional(count),
  ...{ endsAt: count, highestNumber: count, waiting: count, upcoming: count, serving: count },
  ...{ claimed: count, lapsed: count },
  archivableAt: z.optional(count),
});
export type EventFigures = z.infer<typeof eventFiguresSchema>;
const eventsSchema = z.object({ events: z.array(eventFiguresSchema) });

export class MintApi {
  readonly url: string;
  readonly #send: Send;
  readonly #settings: Settings;

  constructor(send: Send, settings: Settings) {
    this.url = settings.mintUrl;
    this.#send = send;
    this.#settings = settings;
  }

  async keys(deadlineMs?: number): Promise<Timed<KeysView>> {
    const answer = await this.#admin({ url: "/v1/admin/keys", ...within(deadlineMs) });
    return { body: read(keysViewSchema, answer), roundTripMs: answer.roundTripMs };
  }

  /** @param seq the key set that was seen: another key is made only on that one. */
  async stage(use: KeyUse, seq: number, reason: string | undefined): Promise<KeyOutcomeView> {
    const answer = await this.#admin({
      method: "POST",
      url: "/v1/admin/keys",
      headers: { "If-Match": `"${seq}"` },
      body: { use, ...(reason === undefined ? {} : { reason }) },
    });
    return read(keyOutcomeSchema, answer);
  }

  /** May be asked again: it changes nothing the second time. */
  async step(kid: string, name: StepName, body: KeyStep): Promise<KeyOutcomeView> {
    const url = `/v1/admin/keys/${encodeURIComponent(kid)}/${name}`;
    return read(keyOutcomeSchema, await this.#admin({ method: "POST", url, body }));
  }

  /** `undefined`: this mint keeps no reports of locations. */
  async edges(): Promise<EdgesView | undefined> {
    try {
      return read(edgesViewSchema, await this.#admin({ url: "/v1/admin/edges" }));
    } catch (error) {
      if (error instanceof RefusedError && error.status === 404) return undefined;
      throw error;
    }
  }

  event(event: string, deadlineMs?: number): Promise<EventView | undefined> {
    return this.#event(eventViewSchema, event, deadlineMs);
  }

  figures(event: string): Promise<EventFigures | undefined> {
    return this.#event(eventFiguresSchema, event);
  }

  async #event<Schema extends z.ZodMiniType>(
    schema: Schema,
    event: string,
    deadlineMs?: number,
  ): Promise<z.output<Schema> | undefined> {
    const url = `/v1/admin/events/${event}`;
    try {
      return read(schema, await this.#admin({ url, ...within(deadlineMs) }));
    } catch (error) {
      if (error instanceof RefusedError && error.status === 404) return undefined;
      throw error;
    }
  }

  async events(deadlineMs?: number): Promise<readonly EventFigures[]> {
    const answer = await this.#admin({ url: "/v1/admin/events", ...within(deadlineMs) });
    return read(eventsSchema, answer).events;
  }

  /** What the change would do. Nothing is written. */
  async preview(
    { event, version }: Pick<EventView, "event" | "version">,
    change: EventChange,
  ): Promise<PreviewView> {
    const answer = await this.#admin({
      method: "POST",
      url: `/v1/admin/events/${event}/preview`,
      headers: { "If-Match": `"${version}"` },
      body: change,
    });
    return read(previewSchema, answer);
  }

  async createEvent(settings: Partial<EventSettings>): Promise<EventView> {
    const asked = { method: "POST", url: "/v1/admin/events", body: settings } as const;
    return read(eventViewSchema, await this.#admin(asked));
  }

  async changeEvent(
    { event, version }: Pick<EventView, "event" | "version">,
    change: EventChange,
    deadlineMs?: number,
  ): Promise<EventView> {
    const answer = await this.#admin({
      ...within(deadlineMs),
      method: "PATCH",
      url: `/v1/admin/events/${event}`,
      headers: { "If-Match": `"${version}"` },
      body: change,
    });
    return read(eventViewSchema, answer);
  }

  /** May be asked again: a second hold loosens nothing. */
  hold(event: string, body: Hold): Promise<EventView> {
    return this.#deed({ url: `/v1/admin/events/${event}/hold`, body });
  }

  resume(event: string): Promise<EventView> {
    return this.#deed({ url: `/v1/admin/events/${event}/resume` });
  }

  endEvent({ event, version }: Pick<EventView, "event" | "version">): Promise<EventView> {
    const url = `/v1/admin/events/${event}/end`;
    return this.#deed({ url, headers: { "If-Match": `"${version}"` } });
  }

  async #deed(request: HttpRequest): Promise<EventView> {
    return read(eventViewSchema, await this.#admin({ ...request, method: "POST" }));
  }

  /** May be asked again, until it is `done`. */
  async archive(event: string, deadlineMs: number): Promise<ArchiveAnswer> {
    const url = `/v1/admin/events/${event}/archive`;
    return read(archiveAnswerSchema, await this.#admin({ method: "POST", url, deadlineMs }));
  }

  /** Another one each time. `undefined`: there is no such event, or this mint makes none. */
  async serviceToken(
    event: string,
    body: ServiceTokenRequest,
  ): Promise<ServiceTokenAnswer | undefined> {
    const url = `/v1/admin/events/${event}/service-tokens`;
    try {
      return read(serviceTokenAnswerSchema, await this.#admin({ method: "POST", url, body }));
    } catch (error) {
      if (error instanceof RefusedError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** May be asked again: a batch has the same numbers every time. */
  async premint(event: string, batch: string, subs: readonly string[]): Promise<PremintAnswer> {
    const url = `/v1/admin/events/${event}/premints/${batch}`;
    const answer = read(
      premintAnswerSchema,
      await this.#admin({ method: "PUT", url, body: { subs } }),
    );
    if (answer.tickets.length === subs.length) return answer;
    throw new CliFailure("The mint gave other places than it was asked for.");
  }

  /** May be asked again: a claim has the same admission every time. */
  async claimPremint(
    { event, batch }: { readonly event: string; readonly batch: string },
    body: PremintClaimsRequest,
  ): Promise<PremintClaimsAnswer["claims"]> {
    const url = `/v1/admin/events/${event}/premints/${batch}/admissions`;
    const answer = await this.#admin({ method: "POST", url, body });
    const { claims } = read(premintClaimsAnswerSchema, answer);
    if (claims.length === body.whose.length) return claims;
    throw new CliFailure("The mint answered other claims than it was asked.");
  }

  /** The drip's statement, not verified. */
  async drip(event: string): Promise<DripClaims> {
    const { text } = await this.#ask({ url: `/v1/events/${event}/drip` });
    return known(dripClaimsSchema, partOf(text, 1));
  }

  /** The public key set, as text. */
  async jwks(): Promise<Timed<string>> {
    const { text, roundTripMs } = await this.#ask({ url: "/.well-known/jwks.json" });
    return { body: text, roundTripMs };
  }

  /** The signed list of events, not verified. */
  async manifest(): Promise<string> {
    return (await this.#ask({ url: "/v1/manifest" })).text;
  }

  #admin(request: HttpRequest): Promise<HttpAnswer> {
    const { adminToken } = this.#settings;
    const headers = { ...request.headers, Authorization: `Bearer ${adminToken?.reveal() ?? ""}` };
    return this.#ask({ ...request, headers });
  }

  async #ask(request: HttpRequest): Promise<HttpAnswer> {
    let answer: HttpAnswer;
    try {
      answer = await this.#send({ ...request, url: this.url + request.url });
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      throw new AwayError(`${this.url} gives no answer: ${error.message}`);
    }
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw refusalOf(answer, this.url);
  }
}

function within(deadlineMs: number | undefined): Pick<HttpRequest, "deadlineMs"> {
  return deadlineMs === undefined ? {} : { deadlineMs };
}

function refusalOf({ status, text }: HttpAnswer, url: string): CliFailure {
  const document = parsed(text);
  const { type, title, detail, errors } = document;
  const isProblem = typeof type === "string" && type.startsWith(PROBLEM_TYPE_PREFIX);
  const code = isProblem ? type.slice(PROBLEM_TYPE_PREFIX.length) : "";
  const said = [title, detail].filter((part) => typeof part === "string");
  const fields = Array.isArray(errors)
    ? errors.map((each: unknown) => JSON.stringify(each)).join(" ")
    : "";
  const words = oneLine([...said, fields].filter((part) => part !== "").join(". "));
  if (code === "unauthorized") {
    return new RefusedError(`${url} does not take the token of ${VARIABLES.token}`, {
      ...{ status, code, document },
    });
  }
  if (status === 503)
    return new AwayError(
      `${url} is not available: ${words === "" ? "503" : words}. A mint that does not lead answers so: name the one that does`,
    );
  const why = code === "" ? `${status}, and it is no answer of a mint` : `${status} ${code}`;
  const message = `${url} refuses: ${why}${words === "" || code === "" ? "" : `. ${words}`}`;
  return new RefusedError(message, { status, code, document });
}

function read<Schema extends z.ZodMiniType>(schema: Schema, answer: HttpAnswer): z.output<Schema> {
  return known(schema, parsed(answer.text));
}

function known<Schema extends z.ZodMiniType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = parse(schema, value);
  if (result.ok) return result.value;
  const fields = result.refusal.map(({ field }) => field).join(", ");
  throw new CliFailure(
    `The mint's answer is not understood (${oneLine(fields)}): is it of another release?`,
  );
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
