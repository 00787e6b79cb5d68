/** The reference: this project's own verifier, on one question. Runs wherever the verifier does. */
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { epochMs } from "@vestibule/kernel/units";

import { verifyAdmission } from "../src/verify-admission.ts";
import { verifyCredit } from "../src/verify-credit.ts";
import { verifyDrip } from "../src/verify-drip.ts";
import { verifyManifest } from "../src/verify-manifest.ts";
import { verifyService } from "../src/verify-service.ts";
import { verifyTicket } from "../src/verify-ticket.ts";
import type { Expected, Question } from "./pack.ts";

const VERIFIERS = {
  admission: verifyAdmission,
  ticket: verifyTicket,
  drip: verifyDrip,
  manifest: verifyManifest,
  credit: verifyCredit,
  service: verifyService,
} as const;

export async function verdictOn(question: Question): Promise<Expected> {
  const { kind, token, jwks, jwksBefore, options } = question;
  const keys = (await keysOf(jwks)) ?? (await keysOf(jwksBefore));
  if (keys === undefined) return { ok: false, reason: "bad-key-set" };
  const { nowMs, visitor, ...rest } = options;
  const read = await VERIFIERS[kind](token, {
    ...rest,
    keys,
    now: epochMs(nowMs),
    visitor: visitor ?? undefined,
  });
  return read.ok ? { ok: true } : { ok: false, ...read.refusal };
}

/** `undefined`: refused as a whole. The set before it stays in force then. */
async function keysOf(jwks: unknown): Promise<KeySet | undefined> {
  const read = await parseJwks(jwks);
  return read.ok ? read.value : undefined;
}
