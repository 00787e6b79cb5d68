/**
 * The shop's verifier: verifies an admission again in front of the checkout, and spends it once.
 * Runs wherever there is `fetch` and Web Crypto with Ed25519: Node 20, workerd, Bun, Deno.
 */
import { isIdempotencyKey, isUser } from "@vestibule/contracts/header-text";
import { TOKEN_CHARS_MAX } from "@vestibule/contracts/limits";
import { createFetchText, sleep } from "@vestibule/feed/fetch-text.system";
import { createMintFeed } from "@vestibule/feed/mint-feed";
import { epochMs } from "@vestibule/kernel/units";
import { every, systemFetch, systemNow } from "./ambient.system.ts";
import { checkRequest } from "./check.ts";
import { createKnowledge } from "./knowledge.ts";
import { TICK_MS } from "./limits.ts";
import { createPost } from "./post.system.ts";
import { refused } from "./refusal.ts";
import { isEventName, readSettings } from "./settings.ts";
import { type SpendRequest, spendAt } from "./spend.ts";
import type {
  Admission,
  Credentials,
  Guard,
  GuardAlarm,
  GuardOptions,
  SpendOptions,
} from "./types.ts";

export type {
  AdapterOptions,
  Admission,
  Admitted,
  CheckOptions,
  Credentials,
  Guard,
  GuardAlarm,
  GuardOptions,
  RefusalReason,
  Refused,
  RequestLike,
  Spend,
  SpendOptions,
  SpendOutcome,
  TokenReason,
  WebFetch,
  WebRequest,
  WebResponse,
} from "./types.ts";

/**
 * One for each process or isolate, made at start. Asks nobody until the first `check` or `start`.
 *
 * @throws TypeError that names every mistake in `options`.
 */
export function createGuard(options: GuardOptions): Guard {
  const settings = readSettings(options);
  const { mintUrls, issuer, events, skewSeconds } = settings;
  const { purchaseUrl, shopToken, spendDeadlineMs } = settings;
  const read = options.now ?? systemNow;
  const now = () => epochMs(Math.floor(read()));
  const fetch = (options.fetch ?? systemFetch) as never;
  const alarm = quietly(options.onAlarm);
  const feed = createMintFeed({
    ...{ mintUrls, issuer, skewSeconds, fetchText: createFetchText(fetch), sleep, alarm },
  });
  const knowledge = createKnowledge(feed, events);
  const post = createPost(fetch);
  // The token and the visitor's secret stay out of the value that shops log and store.
  const credentialsOf = new WeakMap<Admission, Credentials>();
  let end: (() => void) | undefined;

  return {
    async check(request, { event, waitUntil } = {}) {
      const wanted = event === undefined ? events : [event];
      if (wanted.length === 0) throw new TypeError("check: neither guard nor call names an event");
      if (events.length > 0 && wanted.some((each) => !events.includes(each))) {
        return refused("unknown-event");
      }
      const rules = { issuer, skewSeconds, events: wanted };
      const checked = await checkRequest(request, rules, knowledge, { now: now(), waitUntil });
      if (!checked.ok) return refused(checked.refusal);
      const { admission, credentials } = checked.value;
      credentialsOf.set(admission, credentials);
      return { ok: true, admission };
    },

    async spend(what, spendOptions) {
      if (purchaseUrl === undefined) throw new TypeError("spend: the guard has no purchaseUrl");
      const request = readSpendRequest(what, spendOptions, { credentialsOf, shopToken });
      return spendAt(purchaseUrl, request, { post, deadlineMs: spendDeadlineMs });
    },

    isReady: () => knowledge.isReady(now()),
    start() {
      if (end !== undefined) return;
      knowledge.tick(now());
      end = every(TICK_MS, () => knowledge.tick(now()));
    },
    close() {
      end?.();
      end = undefined;
    },
  };
}

/** A shop's log that throws must not end a refresh. */
function quietly(onAlarm: GuardOptions["onAlarm"]): (alarm: GuardAlarm) => void {
  return (alarm) => {
    try {
      onAlarm?.(alarm);
    } catch {
      // Its own trouble: the guard has nowhere else to say it.
    }
  };
}

/** @throws TypeError for what was never checked, and for a key that the purchase API would not take. */
function readSpendRequest(
  what: Admission | Credentials,
  { idempotencyKey, user }: SpendOptions,
  known: {
    readonly credentialsOf: WeakMap<Admission, Credentials>;
    readonly shopToken: string | undefined;
  },
): SpendRequest {
  if (!isIdempotencyKey(idempotencyKey)) {
    throw new TypeError("spend: idempotencyKey has 1 to 200 visible ASCII characters");
  }
  const { shopToken } = known;
  if (user !== undefined && !isUser(user)) {
    throw new TypeError("spend: user has 1 to 200 visible ASCII characters");
  }
  if (user !== undefined && shopToken === undefined) {
    throw new TypeError("spend: a user needs the guard's shopToken");
  }
  const vouched = user === undefined || shopToken === undefined ? undefined : { user, shopToken };
  const request = { idempotencyKey, vouched };
  if ("jti" in what) {
    const credentials = known.credentialsOf.get(what);
    if (credentials !== undefined) return { ...request, credentials, jti: what.jti };
  } else if (isEventName(what.event) && [what.admission, what.visitor].every(isHeaderText)) {
    return { ...request, credentials: what, jti: undefined };
  }
  throw new TypeError("spend: the value that `check` gave is needed, or the two headers");
}

const HEADER_TEXT = new RegExp(`^[\\x21-\\x7e]{1,${TOKEN_CHARS_MAX}}$`);

/** Can go into a header: nothing that a `fetch` would refuse, and so report as an outage. */
function isHeaderText(value: unknown): boolean {
  return typeof value === "string" && HEADER_TEXT.test(value);
}
