/** Both sides of `keys-lookup`: the verifier of the edge in its runtime, with nothing around it. */
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { epochMs } from "@vestibule/kernel/units";
import { verifyAdmission } from "@vestibule/token/verify-admission";

import { EVENT, ISSUER, LIFETIME_SECONDS } from "../edge-world.ts";

/** A key set as JSON, and `visitor token` on each line. */
interface Env {
  readonly ONE_JWKS: string;
  readonly ONE_ADMISSIONS: string;
  readonly FIVE_JWKS: string;
  readonly FIVE_ADMISSIONS: string;
}

interface Loaded {
  readonly keys: KeySet;
  readonly admissions: readonly (readonly [visitor: string, token: string])[];
  next: number;
}

const loaded = new Map<string, Loaded>();

async function load(jwks: string, lines: string): Promise<Loaded> {
  const read = await parseJwks(JSON.parse(jwks));
  if (!read.ok) throw new Error(read.refusal.reason);
  const admissions = lines.split("\n").map((line) => {
    const [visitor = "", token = ""] = line.split(" ");
    return [visitor, token] as const;
  });
  return { keys: read.value, admissions, next: 0 };
}

const worker = {
  /** `/one?count=n` or `/five?count=n`: verifies so many, and says how many of them were good. */
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const side =
      loaded.get(pathname) ??
      (pathname === "/one"
        ? await load(env.ONE_JWKS, env.ONE_ADMISSIONS)
        : await load(env.FIVE_JWKS, env.FIVE_ADMISSIONS));
    loaded.set(pathname, side);
    const now = epochMs(Date.now());
    const count = Number(searchParams.get("count"));
    let good = 0;
    for (let index = 0; index < count; index += 1) {
      const [visitor, token] = side.admissions[side.next] ?? [undefined, ""];
      side.next = (side.next + 1) % side.admissions.length;
      const read = await verifyAdmission(token, {
        ...{ keys: side.keys, issuer: ISSUER, event: EVENT, visitor, now, skewSeconds: 5 },
        ...{ lifetimeSeconds: LIFETIME_SECONDS, action: "purchase" },
      });
      if (read.ok) good += 1;
    }
    return new Response(String(good));
  },
};

export default worker;
