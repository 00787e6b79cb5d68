/** The requests of whoever waits. A failure is a value: there is an answer to each. */
import type {
  CreditUsed,
  EdgeClaimAnswer,
  EdgeJoinAnswer,
  ProofOfWork,
} from "@vestibule/contracts/line-api";
import { PROOF_HEADER } from "@vestibule/contracts/names";
import type { DripView } from "@vestibule/contracts/statements";
import type { TokenKeeper } from "./tokens.ts";

/** What the line client asks of its platform: `fetch` and its options are the web's. */
export interface LinePorts {
  /** Rejects when there is no answer within a deadline of the platform's choice. */
  fetch(url: string, request: LineRequest): Promise<LineResponse>;
  /** This device's clock, epoch milliseconds. */
  now(): number;
}

export interface LineRequest {
  readonly method?: "POST" | "DELETE";
  readonly credentials: "omit" | "same-origin";
  readonly cache: "no-cache" | "no-store";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LineResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  json(): Promise<unknown>;
}

export interface LineOptions {
  /** Of the site that the sale is on, `https://shop.example`. Absent: the page's own. */
  readonly origin?: string;
  /** Absent: cookies are the browser's to keep, and to send. */
  readonly tokens?: TokenKeeper;
}

export type Reply<Body> =
  | { readonly ok: true; readonly body: Body; readonly receivedAt: number }
  | Refusal;

export interface Refusal extends ProblemMembers {
  readonly ok: false;
  /** 0: no answer at all. */
  readonly status: number;
  /** 0: nothing was advised. */
  readonly retryAfterMs: number;
}

/** Members of problem documents that decide what comes next. */
interface ProblemMembers {
  readonly type?: string | undefined;
  readonly reason?: string | undefined;
  /** Of a claim with a credit: it has done what it can. */
  readonly creditUsed?: CreditUsed["creditUsed"] | undefined;
  /** Of a claim that came too late: the order of whoever has bought. */
  readonly order?: string | undefined;
  /** Of a join: the work to be done before it, and in token mode the visitor to come again as. */
  readonly proofOfWork?: ProofOfWork | undefined;
  readonly visitor?: string | undefined;
  /** Of a join that came too early. */
  readonly joinableAt?: number | undefined;
}

export interface Proof extends Pick<ProofOfWork, "at"> {
  readonly counter: string;
}

export interface LineClient {
  drip(): Promise<Reply<DripView>>;
  /** `GET` of what is below the event's address: `/me`, or the event itself. */
  ask<Body>(path: string): Promise<Reply<Body>>;
  /** @param proof what was found for the work that the try before was asked for */
  join(proof?: Proof): Promise<Reply<EdgeJoinAnswer>>;
  /** `said`: the fan has said that they are there. */
  claim(said: boolean): Promise<Reply<EdgeClaimAnswer>>;
}

const RETRY_AFTER_SECONDS_MAX = 86_400;

export function createLineClient(
  event: string,
  ports: LinePorts,
  { origin = "", tokens }: LineOptions = {},
): LineClient {
  const base = `${origin}/_vestibule/events/${event}`;
  const mine = {
    credentials: tokens === undefined ? ("same-origin" as const) : ("omit" as const),
    cache: "no-store" as const,
  };
  async function call<Body>(path: string, request: LineRequest): Promise<Reply<Body>> {
    try {
      const headers = { Accept: "application/json", ...request.headers };
      const response = await ports.fetch(base + path, { ...request, headers });
      const body = await response.json();
      if (response.ok) return { ok: true, body: body as Body, receivedAt: ports.now() };
      const seconds = Number(response.headers.get("Retry-After"));
      const retryAfterMs = seconds > 0 && seconds < RETRY_AFTER_SECONDS_MAX ? seconds * 1000 : 0;
      return { ...(body as ProblemMembers), ok: false, status: response.status, retryAfterMs };
    } catch {
      return { ok: false, status: 0, retryAfterMs: 0 };
    }
  }
  const shown = (): Readonly<Record<string, string>> => tokens?.headers() ?? {};
  return {
    drip: () => call("/drip", { credentials: "omit", cache: "no-cache" }),
    ask: (path) => call(path, { ...mine, headers: shown() }),
    async join(proof) {
      const proven = proof && { [PROOF_HEADER]: `${proof.at}.${proof.counter}` };
      const request = { method: "POST", ...mine, headers: { ...shown(), ...proven } } as const;
      const reply = await call<EdgeJoinAnswer>("/tickets", request);
      if (reply.ok) tokens?.joined(reply.body);
      else if (reply.visitor !== undefined) tokens?.named(reply.visitor);
      return reply;
    },
    async claim(said) {
      const json = said ? { "Content-Type": "application/json" } : undefined;
      const body = said ? { body: JSON.stringify({ confirmed: true }) } : undefined;
      const request = {
        method: "POST",
        ...mine,
        headers: { ...shown(), ...json },
        ...body,
      } as const;
      const reply = await call<EdgeClaimAnswer>("/admissions", request);
      if (reply.ok) tokens?.claimed(reply.body);
      else if (reply.creditUsed === true || reply.status === 410) tokens?.creditSpent();
      return reply;
    },
  };
}
