/** Tokens of services, which pass without a place where a bypass rule names them. Behind the admin token. */
import {
  SERVICE_TOKEN_SECONDS_MIN,
  SERVICE_TOKEN_SLACK_SECONDS,
} from "@vestibule/contracts/limits";
import { type Mistake, parse } from "@vestibule/contracts/parse";
import {
  type ServiceTokenAnswer,
  type ServiceTokenRequest,
  serviceTokenRequestSchema,
} from "@vestibule/contracts/service-api";
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import { type EpochSeconds, epochSeconds, toMs, toSeconds } from "@vestibule/kernel/units";
import { encodeBase64url } from "@vestibule/keys/base64url";
import { noStore, type ServiceApp } from "@vestibule/service/app";
import { readJson } from "@vestibule/service/json-body";
import { problem } from "@vestibule/service/problems";
import * as z from "zod/mini";
import { SERVICE_TOKEN_ID_BYTES } from "../limits.ts";
import { isEnded } from "../line/event-state.ts";
import { noteServiceToken } from "../line/organizer.ts";
import type { Mint } from "../mint.ts";
import type { Tokens } from "../tokens.ts";
import { ACTOR } from "./actor.ts";
import { refusedSettings } from "./refused-settings.ts";

export interface ServiceRoutes {
  readonly mint: Mint;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly tokens: Pick<Tokens, "service">;
}

export function addServiceRoutes(
  app: ServiceApp,
  { mint, clock, randomness, tokens }: ServiceRoutes,
): void {
  app.post("/v1/admin/events/:event/service-tokens", async (context) => {
    const { line } = mint.entry(context.req.param("event"));
    const read = parse(serviceTokenRequestSchema, await readJson(context.req.raw, z.unknown()));
    if (!read.ok) throw refusedSettings(read.refusal);
    const now = clock.now();
    const { settings } = line.record;
    if (isEnded(line.record, now)) throw problem("event-ended");
    const iat = toSeconds(now);
    const latest = epochSeconds(Math.floor(settings.endsAt / 1_000) + SERVICE_TOKEN_SLACK_SECONDS);
    const exp = endOf(read.value, { iat, latest });
    const mistakes = endMistakes(read.value, { iat, latest, exp });
    if (mistakes.length > 0) throw refusedSettings(mistakes);
    const { name } = read.value;
    const jti = encodeBase64url(randomness.bytes(SERVICE_TOKEN_ID_BYTES));
    const expiresAt = toMs(exp);
    // On record before it is anywhere else.
    await noteServiceToken(line, { actor: ACTOR, name, jti, expiresAt });
    const answer: ServiceTokenAnswer = {
      ...{ event: line.event, name, jti, expiresAt },
      token: await tokens.service({ event: line.event, name, jti, iat, exp }),
      rules: settings.bypass.flatMap(({ services }, rule) =>
        services?.includes(name) === true ? [rule] : [],
      ),
    };
    return noStore(context, 201, answer);
  });
}

interface Bounds {
  readonly iat: EpochSeconds;
  readonly latest: EpochSeconds;
}

function endOf({ lifetimeSeconds, expiresAt }: ServiceTokenRequest, bounds: Bounds): EpochSeconds {
  const { iat, latest } = bounds;
  if (expiresAt !== undefined) return epochSeconds(Math.floor(expiresAt / 1_000));
  return lifetimeSeconds === undefined ? latest : epochSeconds(iat + lifetimeSeconds);
}

function endMistakes(
  { lifetimeSeconds }: ServiceTokenRequest,
  { iat, latest, exp }: Bounds & { readonly exp: EpochSeconds },
): readonly Mistake[] {
  const field = lifetimeSeconds === undefined ? "expiresAt" : "lifetimeSeconds";
  if (exp > latest) {
    const message = `Must end by ${toMs(latest)}: the event's end, and ${SERVICE_TOKEN_SLACK_SECONDS} s`;
    return [{ field, message }];
  }
  if (exp - iat >= SERVICE_TOKEN_SECONDS_MIN) return [];
  return [{ field, message: `Must be ${SERVICE_TOKEN_SECONDS_MIN} s ahead or more` }];
}
