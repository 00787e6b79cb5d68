/** A location made of values: gives what the mint gives, and says of each admission what a test lets it say. */
import type { HttpRequest, Send } from "../../src/platform.ts";
import { partOf } from "../../src/token-part.ts";
import type { FakeMint } from "./fake-mint.ts";
import { MINT_URL } from "./fake-mint.ts";

export const EDGE_URL = "http://localhost:8787";
const SKEW_MS = 5_000;

export class FakeLocation {
  readonly #mint: FakeMint;
  /** What fans were given, here and at the mint: everything else is forged. */
  readonly #given = new Set<string>();
  /** `undefined`: does not say. */
  admits: (admission: string) => boolean | undefined;

  constructor(mint: FakeMint) {
    this.#mint = mint;
    const { send } = mint;
    mint.send = async (request) => {
      const answer = await send(request);
      for (const [, token = ""] of answer.text.matchAll(/"(?:admission|ticket)":"([^"]+)"/g))
        this.#given.add(token);
      return answer;
    };
    this.admits = (admission) => this.isGood(admission);
  }

  isGood(admission: string): boolean {
    const { exp, act } = partOf(admission, 1) as { exp?: number; act?: string };
    const isOver = this.#mint.clock.now() >= (exp ?? 0) * 1_000 + SKEW_MS;
    return act === "purchase" && this.#given.has(admission) && !isOver;
  }

  send: Send = async ({ url, headers = {} }) => {
    const { pathname } = new URL(url);
    if (pathname === "/_vestibule/health") {
      const ids = [this.#mint.key("admission", "staged")];
      return answer(200, { location: "fra", keys: { ids } });
    }
    const [, event = "", what = ""] = /events\/([^/]+)\/(\w+)$/.exec(pathname) ?? [];
    const visitor = headers["Vestibule-Visitor"] ?? "";
    const ticket = headers["Vestibule-Ticket"] ?? "";
    if (what === "me") {
      if (!this.#given.has(ticket)) return answer(403, {});
      return answer(200, {
        number: 1,
        admitted: this.admits(headers["Vestibule-Admission"] ?? ""),
      });
    }
    const asked: HttpRequest = { method: "POST", url: `${MINT_URL}/v1/events/${event}/${what}` };
    return this.#mint.send({ ...asked, body: { visitor, ticket } });
  };
}

function answer(status: number, body: unknown): Awaited<ReturnType<Send>> {
  return { status, text: JSON.stringify(body), roundTripMs: 1, headers: { get: () => null } };
}
