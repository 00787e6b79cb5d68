/** The three requests of the page. A failure is a value: the page has an answer to each. */
import type { CreditUsed, EdgeClaimAnswer, EdgeJoinAnswer } from "@vestibule/contracts/line-api";
import type { DripView } from "@vestibule/contracts/statements";

/** What the line client asks of its platform: `fetch` and its options are the web's. */
export interface LinePorts {
  /** Rejects when there is no answer within a deadline of the platform's choice. */
  fetch(url: string, request: LineRequest): Promise<LineResponse>;
  /** This device's clock, epoch milliseconds. */
  now(): number;
}

export interface LineRequest {
  readonly method?: "POST";
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

export type Reply<Body> =
  | { readonly ok: true; readonly body: Body; readonly receivedAt: number }
  | {
      readonly ok: false;
      /** 0: no answer at all. */
      readonly status: number;
      readonly retryAfterMs: number;
      readonly reason: unknown;
      /** Of a claim with a credit: it has done what it can. */
      readonly creditUsed: boolean;
      /** Of a claim that came too late: the order of whoever has bought. */
      readonly order?: string | undefined;
    };

export interface LineClient {
  drip(): Promise<Reply<DripView>>;
  join(): Promise<Reply<EdgeJoinAnswer>>;
  /** `said`: the fan has said that they are there. */
  claim(said: boolean): Promise<Reply<EdgeClaimAnswer>>;
}

interface Refused extends CreditUsed {
  readonly reason?: unknown;
  readonly order?: string;
}

export function createLineClient(event: string, ports: LinePorts): LineClient {
  const base = `/_vestibule/events/${event}/`;
  const call = async <Body>(
    path: string,
    init: LineRequest,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply<Body>> => {
    try {
      const response = await ports.fetch(base + path, {
        ...init,
        headers: { Accept: "application/json", ...headers },
      });
      const body = (await response.json()) as Body & Refused;
      if (response.ok) return { ok: true, body, receivedAt: ports.now() };
      const seconds = Number(response.headers.get("Retry-After"));
      const retryAfterMs = seconds > 0 && seconds < 86_400 ? seconds * 1000 : 0;
      const { reason, creditUsed = false, order } = body;
      return { ok: false, status: response.status, retryAfterMs, reason, creditUsed, order };
    } catch {
      return { ok: false, status: 0, retryAfterMs: 0, reason: undefined, creditUsed: false };
    }
  };
  const post: LineRequest = { method: "POST", credentials: "same-origin", cache: "no-store" };
  const confirmed: LineRequest = { ...post, body: JSON.stringify({ confirmed: true }) };
  const json = { "Content-Type": "application/json" };
  return {
    drip: () => call<DripView>("drip", { credentials: "omit", cache: "no-cache" }),
    join: () => call<EdgeJoinAnswer>("tickets", post),
    claim: (said) =>
      said
        ? call<EdgeClaimAnswer>("admissions", confirmed, json)
        : call<EdgeClaimAnswer>("admissions", post),
  };
}
