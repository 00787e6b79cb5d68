/** Tokens of the mint, signed and read with the keys of its ring. */
import { hash } from "node:crypto";
import type { DripClaims, ManifestClaims } from "@vestibule/contracts/statements";
import { ticketNumber, toMs } from "@vestibule/kernel/units";
import { signAdmission, signDrip, signManifest, signTime } from "@vestibule/token/sign";
import { signService } from "@vestibule/token/sign-service";
import { verifyTicket } from "@vestibule/token/verify-ticket";
import type { Sub, Tokens } from "../tokens.ts";
import { type BulkTickets, bulkTickets } from "./bulk-tickets.ts";
import type { KeyRing } from "./key-ring.ts";
import { ticketSigner } from "./ticket-signer.ts";

const SUB_WORDS = 8;

export interface SigningDeskOptions {
  readonly issuer: string;
  readonly skewSeconds: number;
  /** The ring in force; a rotation replaces it. */
  readonly ring: () => KeyRing;
  /** Signs batches; in this thread when absent. */
  readonly bulk?: BulkTickets | undefined;
}

export function signingDesk({
  issuer,
  skewSeconds,
  ring,
  bulk = bulkTickets,
}: SigningDeskOptions): Tokens {
  const sign = ticketSigner(issuer);
  return {
    subOf,
    keysSeq: () => ring().seq,
    ticket: (claims) => sign(ring().signing.line, claims),
    tickets: (batch) => bulk({ issuer, key: ring().signing.line, ...batch }),
    admission: ({ event, sub, n, iat, opensAt, lifetimeSeconds }) =>
      signAdmission(ring().signing.admission, {
        issuer,
        event,
        sub,
        number: ticketNumber(n),
        action: "purchase",
        iat,
        opensAt,
        lifetimeSeconds,
      }),
    time: (answer) => signTime(ring().signing.line, { issuer, ...answer }),
    service: (claims) => signService(ring().signing.line, { issuer, ...claims }),
    readTicket: async (text, { event, visitor, now }) => {
      const options = { keys: ring().verify, issuer, event, visitor, skewSeconds };
      let read = await verifyTicket(text, { ...options, now });
      if (!read.ok && read.refusal.reason === "over") {
        // The event's end was moved after this was signed: the place is as good as ever. The caller
        // has seen that the event goes on.
        read = await verifyTicket(text, { ...options, now: toMs(read.refusal.until) });
      }
      return read.ok && read.value.kind === "numbered"
        ? { ok: true, n: read.value.number }
        : { ok: false };
    },
    drip(claims: DripClaims) {
      const { signing, seq } = ring();
      return signDrip(signing.line, { ...claims, keysSeq: seq });
    },
    manifest(claims: ManifestClaims) {
      const { signing, seq } = ring();
      return signManifest(signing.line, { ...claims, keysSeq: seq });
    },
  };
}

/** What `hashVisitor` of packages/token answers, here and now: a join awaits nothing between its look and its note. */
export function subOf(visitor: string): Sub {
  const text = hash("sha256", visitor, "base64url");
  const digest = Buffer.from(text, "base64url");
  // Word by word: a view of the words' buffer would move them off the heap, for every join.
  const words = new Uint32Array(SUB_WORDS);
  for (let word = 0; word < SUB_WORDS; word += 1) words[word] = digest.readUInt32LE(word * 4);
  return { text, words };
}
