/** The mint's signing, for the edge rows: admissions in bulk, and the statements of the stub mint. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { jwksDocument } from "@vestibule/keys/public-key";
import { importPrivateJwk } from "@vestibule/keys/signing-key";
import { epochMs, epochSeconds, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import { signAdmission, signDrip, signManifest, signTicket } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";

import { dripClaims, EVENT, ISSUER, LIFETIME_SECONDS, manifestClaims } from "./edge-world.ts";
import type { Bench } from "./row.ts";

/** Signed at once: enough to keep the thread pool busy, and few enough to show progress. */
const BATCH = 500;
/** How long ago the slots opened: well inside of every time rule. */
const OPENED_AGO_MS = 60_000;

export interface Admitted {
  readonly visitor: string;
  readonly token: string;
}

export interface EdgeSigner {
  /** The public key, base64url, for a floor that verifies raw. */
  readonly publicKey: string;
  /** The key set as JSON. */
  readonly jwks: string;
  /** New admissions, each of a visitor and a number of its own. */
  admissions(count: number): Promise<readonly Admitted[]>;
  /** The same in a file, `visitor token` on each line. */
  admissionsFile(bench: Bench, count: number): Promise<string>;
  /** A place in line, of a visitor of its own. */
  place(number: number): Promise<{ readonly visitor: string; readonly ticket: string }>;
  manifest(nowMs: number): Promise<string>;
  drip(nowMs: number): Promise<string>;
}

export async function createEdgeSigner(): Promise<EdgeSigner> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const imported = await importPrivateJwk(await crypto.subtle.exportKey("jwk", pair.privateKey));
  if (!imported.ok) throw new Error(`no key to sign with: ${imported.refusal}`);
  const { signingKey, publicJwk } = imported.value;
  let last = 0;
  let files = 0;

  const admission = async (): Promise<Admitted> => {
    last += 1;
    const number = ticketNumber(last);
    const visitor = randomBytes(32).toString("base64url");
    const opensAt = epochMs(Date.now() - OPENED_AGO_MS);
    const token = await signAdmission(signingKey, {
      issuer: ISSUER,
      event: EVENT,
      sub: hashVisitor(visitor),
      number,
      action: "purchase",
      iat: toSeconds(opensAt),
      opensAt,
      lifetimeSeconds: LIFETIME_SECONDS,
    });
    return { visitor, token };
  };
  const admissions = (count: number): Promise<readonly Admitted[]> =>
    Promise.all(Array.from({ length: count }, admission));

  return {
    publicKey: publicJwk.x,
    jwks: JSON.stringify(jwksDocument([publicJwk])),
    admissions,
    admissionsFile: async (bench, count) => {
      const lines: string[] = [];
      while (lines.length < count) {
        bench.progress(`signing admissions: ${lines.length} of ${count}`);
        const batch = await admissions(Math.min(BATCH, count - lines.length));
        lines.push(...batch.map(({ visitor, token }) => `${visitor} ${token}\n`));
      }
      files += 1;
      const file = join(bench.scratch, `admissions-${files}`);
      await writeFile(file, lines.join(""));
      return file;
    },
    place: async (number) => {
      const visitor = randomBytes(32).toString("base64url");
      const iat = toSeconds(epochMs(Date.now() - OPENED_AGO_MS));
      const ticket = await signTicket(signingKey, {
        ...{ issuer: ISSUER, event: EVENT, sub: hashVisitor(visitor), iat },
        exp: epochSeconds(iat + LIFETIME_SECONDS),
        place: { number: ticketNumber(number) },
      });
      return { visitor, ticket };
    },
    manifest: (nowMs) => signManifest(signingKey, manifestClaims(nowMs)),
    drip: (nowMs) => signDrip(signingKey, dripClaims(nowMs)),
  };
}
