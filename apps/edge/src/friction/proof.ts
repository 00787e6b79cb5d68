/**
 * Proof of work before a new place, where the event asks for it. Nothing is kept here and no secret is needed (law 6): what
 * is hashed is all in the request, and one hash tells whether the work was done. It is bound to the visitor, so that it is
 * of no use to another one, and to a moment, so that none is good for ever.
 */
import type { ProofOfWork } from "@vestibule/contracts/line-api";
import { PROOF_HEADER } from "@vestibule/contracts/names";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { zeroBits } from "@vestibule/client/proof";
import { encodeBase64url } from "@vestibule/keys/base64url";
import { sha256 } from "@vestibule/keys/sha256";
import { utf8 } from "@vestibule/keys/text";
import { hashVisitor } from "@vestibule/token/visitor";
import { PROOF_AHEAD_SECONDS, PROOF_SECONDS } from "../limits.ts";
import { problem } from "../problem.ts";
import type { Visit } from "../visit.ts";

const HEADER = PROOF_HEADER.toLowerCase();
/** When it was asked for, epoch seconds, and the counter. */
const PROOF = /^(\d{10})\.(\d{1,16})$/;

/** 428 with what to hash; `undefined` when none is asked for, or it was shown. */
export function askProof(
  { head, now }: Visit,
  { event, friction }: ManifestEvent,
  { visitor, tokenMode }: { visitor: string; tokenMode: boolean },
): Response | undefined {
  const bits = friction?.proofOfWorkBits ?? 0;
  if (bits === 0) return undefined;
  const second = Math.floor(now / 1_000);
  const shown = head.ours.includes(HEADER) ? PROOF.exec(head.headers.get(HEADER) ?? "") : null;
  const [, at = "", counter = ""] = shown ?? [];
  const age = second - Number(at);
  const isFresh = shown !== null && age <= PROOF_SECONDS && age >= -PROOF_AHEAD_SECONDS;
  if (isFresh && isWorkDone(textOf(event, visitor, at) + counter, bits)) return undefined;
  const proofOfWork: ProofOfWork = {
    bits,
    text: textOf(event, visitor, String(second)),
    at: second,
  };
  return problem("proof-of-work-required", {
    detail: `Send this again with ${PROOF_HEADER}: \`at\`, a dot, and a counter, so that SHA-256 over \`text\` and the counter begins with \`bits\` zero bits.`,
    extensions: { proofOfWork, ...(tokenMode ? { visitor } : {}) },
  });
}

/** Short, so that one block holds it and the counter. */
function textOf(event: string, visitor: string, at: string): string {
  const about = `vestibule-proof-1 ${event} ${hashVisitor(visitor)} ${at}`;
  return encodeBase64url(sha256(utf8(about)));
}

function isWorkDone(text: string, bits: number): boolean {
  return zeroBits(sha256(utf8(text)).buffer) >= bits;
}
