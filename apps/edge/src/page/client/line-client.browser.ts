/** The three requests of the page. A failure is a value: the page has an answer to each. */
import type { CreditUsed, EdgeClaimAnswer, EdgeJoinAnswer } from "@vestibule/contracts/line-api";
import type { DripView } from "@vestibule/contracts/statements";

const DEADLINE_MS = 10_000;

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

interface Refused extends CreditUsed {
  readonly reason?: unknown;
  readonly order?: string;
}

export function createLineClient(event: string) {
  const base = `/_vestibule/events/${event}/`;
  const call = async <Body>(
    path: string,
    init: RequestInit,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply<Body>> => {
    try {
      const response = await fetch(base + path, {
        ...init,
        signal: AbortSignal.timeout(DEADLINE_MS),
        headers: { Accept: "application/json", ...headers },
      });
      const body = (await response.json()) as Body & Refused;
      if (response.ok) return { ok: true, body, receivedAt: Date.now() };
      const seconds = Number(response.headers.get("Retry-After"));
      const retryAfterMs = seconds > 0 && seconds < 86_400 ? seconds * 1000 : 0;
      const { reason, creditUsed = false, order } = body;
      return { ok: false, status: response.status, retryAfterMs, reason, creditUsed, order };
    } catch {
      return { ok: false, status: 0, retryAfterMs: 0, reason: undefined, creditUsed: false };
    }
  };
  const post: RequestInit = { method: "POST", credentials: "same-origin", cache: "no-store" };
  const confirmed: RequestInit = { ...post, body: JSON.stringify({ confirmed: true }) };
  const json = { "Content-Type": "application/json" };
  return {
    drip: () => call<DripView>("drip", { credentials: "omit", cache: "no-cache" }),
    join: () => call<EdgeJoinAnswer>("tickets", post),
    /** `said`: the fan has said that they are there. */
    claim: (said: boolean) =>
      said
        ? call<EdgeClaimAnswer>("admissions", confirmed, json)
        : call<EdgeClaimAnswer>("admissions", post),
  };
}
