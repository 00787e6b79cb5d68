/** Is this admission good, now? What the purchase API asks itself, by the same code (design section 8). */
import { TOKEN_CHARS_MAX } from "@vestibule/contracts/limits";
import { HASH_TEXT } from "@vestibule/contracts/hash-text";
import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";
import { decodeBase64url } from "@vestibule/keys/base64url";
import { utf8Text } from "@vestibule/keys/text";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import { toMs } from "@vestibule/kernel/units";
import { judgeAdmission } from "@vestibule/token/judge-admission";
import type { Asking, Knowledge } from "./knowledge.ts";
import { isEventName } from "./settings.ts";
import type { Admission, Credentials, RefusalReason, RequestLike } from "./types.ts";

export interface Rules {
  readonly issuer: string;
  readonly skewSeconds: number;
  /** Sales of which any will do. */
  readonly events: readonly string[];
}

export interface Checked {
  readonly admission: Admission;
  readonly credentials: Credentials;
}

type Answer = Result<Checked, RefusalReason>;

/** Never rejects for any `request`. */
export async function checkRequest(
  request: RequestLike,
  rules: Rules,
  knowledge: Knowledge,
  asking: Asking,
): Promise<Answer> {
  const shown = readHeaders(request);
  if (!shown.ok) return shown;
  const event = eventOf(shown.value.admission, rules.events);
  if (event === undefined) return refuse("wrong-audience");
  if (!isEventName(event)) return refuse("unknown-event");

  const [keys, terms] = await Promise.all([knowledge.keys(asking), knowledge.terms(event, asking)]);
  if (keys === undefined || terms === undefined) return refuse("mint-unknown");
  if (terms === "unknown-event") return refuse("unknown-event");

  const credentials = { event, ...shown.value };
  const { lifetimeSeconds } = terms;
  const verdict = await judgeAdmission(
    credentials.admission,
    {
      ...{ keys, event, lifetimeSeconds, action: "purchase", visitor: credentials.visitor },
      ...{ issuer: rules.issuer, skewSeconds: rules.skewSeconds, now: asking.now },
    },
    {
      newerKeys: () => knowledge.newerKeys(asking),
      keys: () => knowledge.keysNow(asking),
      drip: () => knowledge.drip(event, asking),
    },
  );
  if (!verdict.ok) return refuse(verdict.refusal.reason);

  const { number, jti, sub, nbf, exp } = verdict.value;
  const times = { opensAt: toMs(nbf), closesAt: toMs(exp) };
  return ok({ admission: { event, number, jti, visitor: sub, ...times }, credentials });
}

/**
 * Form only, before anything is parsed or asked. A header sent twice is joined with a comma, which
 * neither a token nor a visitor's secret can hold.
 */
function readHeaders({
  headers,
}: RequestLike): Result<{ admission: string; visitor: string }, RefusalReason> {
  const admission = headers.get(ADMISSION_HEADER) ?? "";
  const visitor = headers.get(VISITOR_HEADER) ?? "";
  if (admission === "" || !HASH_TEXT.test(visitor)) return refuse("missing");
  if (admission.length > TOKEN_CHARS_MAX) return refuse("malformed");
  return ok({ admission, visitor });
}

/**
 * The one sale, or the one of several that the token names. Nothing rests on the name until the
 * signature held: the verifier compares it again.
 */
function eventOf(admission: string, events: readonly string[]): string | undefined {
  if (events.length === 1) return events[0];
  const payload = decodeBase64url(admission.split(".", 2)[1] ?? "");
  const json = payload === undefined ? undefined : utf8Text(payload);
  if (json === undefined) return undefined;
  try {
    const audience = (JSON.parse(json) as { aud?: unknown } | null)?.aud;
    return events.find((event) => event === audience);
  } catch {
    return undefined;
  }
}
