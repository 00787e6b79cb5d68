/** The requests of whoever waits. A failure is a value: there is an answer to each. */
import type {
  CreditUsed,
  EdgeClaimAnswer,
  EdgeJoinAnswer,
  ProofOfWork,
} from "@vestibule/contracts/line-api";
import { PROOF_HEADER } from "@vestibule/contracts/names";
import type { DripView } from "@vestibule/contracts/statements";

/** What the line client asks of its platform: `fetch` and its options are the web's. */
export interface LinePorts {
  /** Rejects when there is no answer within a deadline of the platform's choice. */
  fetch(url: string, request: LineRequest): Promise<LineResponse>;
  /** This device's clock, epoch milliseconds. */
  now(): number;
}

export interface LineRequest {
  readonly method?: "POST" | "DELETE" | undefined;
  readonly credentials: "omit" | "same-origin";
  readonly cache: "no-cache";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface LineResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  json(): Promise<unknown>;
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
  readonly counter: number;
}

export interface LineClient {
  drip(): Promise<Reply<DripView>>;
  /** @param proof what was found for the work that the try before was asked for */
  join(proof?: Proof): Promise<Reply<EdgeJoinAnswer>>;
  leave(): Promise<Reply<unknown>>;
  /** `said`: the fan has said that they are there. */
  claim(said: boolean): Promise<Reply<EdgeClaimAnswer>>;
}

const CONFIRMED = {
  headers: { "Content-Type": "application/json" },
  body: '{"confirmed":true}',
};
const RETRY_AFTER_SECONDS_MAX = 86_400;

export function createLineClient(event: string, ports: LinePorts): LineClient {
  async function ask<Body>(
    path: string,
    { method, headers, body }: Partial<LineRequest> = {},
  ): Promise<Reply<Body>> {
    try {
      const response = await ports.fetch(`/_vestibule/events/${event}/${path}`, {
        method,
        credentials: method === undefined ? "omit" : "same-origin",
        cache: "no-cache",
        headers: { Accept: "application/json", ...headers },
        body,
      });
      const { status } = response;
      const said = status === 204 ? {} : await response.json();
      if (response.ok) return { ok: true, body: said as Body, receivedAt: ports.now() };
      const seconds = Number(response.headers.get("Retry-After"));
      const retryAfterMs = seconds > 0 && seconds < RETRY_AFTER_SECONDS_MAX ? seconds * 1000 : 0;
      return { ...(said as ProblemMembers), ok: false, status, retryAfterMs };
    } catch {
      return { ok: false, status: 0, retryAfterMs: 0 };
    }
  }
  return {
    drip: () => ask("drip"),
    join: (proof) =>
      ask("tickets", {
        method: "POST",
        headers: proof ? { [PROOF_HEADER]: `${proof.at}.${proof.counter}` } : {},
      }),
    claim: (said) =>
      ask("admissions", {
        method: "POST",
        ...(said ? CONFIRMED : undefined),
      }),
    leave: () => ask("me", { method: "DELETE" }),
  };
}
