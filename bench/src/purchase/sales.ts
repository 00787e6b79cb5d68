/** The mint's part for the purchase rows: several sales, their signed statements, and admissions to them. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { STATEMENT_MEDIA_TYPE } from "@vestibule/contracts/names";
import { epochMs, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import { jwksDocument } from "@vestibule/keys/public-key";
import { importPrivateJwk } from "@vestibule/keys/signing-key";
import { signAdmission, signDrip, signManifest } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";

import { dripClaims, ISSUER, LIFETIME_SECONDS, manifestClaims } from "../edge-world.ts";
import type { Bench } from "../row.ts";

/** Signed at once. */
const BATCH = 500;
/** How long ago the slots opened: well inside of every time rule. */
const OPENED_AGO_MS = 60_000;

export interface Admission {
  readonly visitor: string;
  /** SHA-256 of the visitor's secret, as orders have it. */
  readonly visitorHash: string;
  readonly token: string;
}

export interface Sales {
  /** The mint that stands in, on this process: it signs each statement when it is asked for. */
  readonly mintUrl: string;
  /** For `VESTIBULE_JWKS`. */
  readonly jwks: string;
  /** Each of a visitor and a place of its own in this event. */
  admissions(event: string, count: number): Promise<readonly Admission[]>;
}

export async function openSales(bench: Bench, events: readonly string[]): Promise<Sales> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const imported = await importPrivateJwk(await crypto.subtle.exportKey("jwk", pair.privateKey));
  if (!imported.ok) throw new Error(`no key to sign with: ${imported.refusal}`);
  const { signingKey, publicJwk } = imported.value;
  const jwks = JSON.stringify(jwksDocument([publicJwk]));
  let last = 0;

  const manifest = (): Promise<string> => {
    const { events: examples, ...claims } = manifestClaims(Date.now());
    const listed = events.flatMap((event) =>
      examples.map((each) => ({ ...each, event, paths: [`/${event}/*`], homePath: `/${event}/` })),
    );
    return signManifest(signingKey, { ...claims, events: listed });
  };
  const drip = (event: string): Promise<string> =>
    signDrip(signingKey, { ...dripClaims(Date.now()), aud: event });

  const admission = async (event: string): Promise<Admission> => {
    last += 1;
    const visitor = randomBytes(32).toString("base64url");
    const visitorHash = hashVisitor(visitor);
    const opensAt = epochMs(Date.now() - OPENED_AGO_MS);
    const token = await signAdmission(signingKey, {
      issuer: ISSUER,
      event,
      sub: visitorHash,
      number: ticketNumber(last),
      action: "purchase",
      iat: toSeconds(opensAt),
      opensAt,
      lifetimeSeconds: LIFETIME_SECONDS,
    });
    return { visitor, visitorHash, token };
  };

  const answer = async (
    path: string,
  ): Promise<readonly [type: string, text: string] | undefined> => {
    if (path === "/.well-known/jwks.json") return ["application/json", jwks];
    if (path === "/v1/manifest") return [STATEMENT_MEDIA_TYPE, await manifest()];
    const event = /^\/v1\/events\/([^/]+)\/drip$/.exec(path)?.[1] ?? "";
    return events.includes(event) ? [STATEMENT_MEDIA_TYPE, await drip(event)] : undefined;
  };
  return {
    mintUrl: await serve(bench, answer),
    jwks,
    admissions: async (event, count) => {
      const signed: Admission[] = [];
      while (signed.length < count) {
        bench.progress(`signing admissions: ${signed.length} of ${count}`);
        const batch = Array.from({ length: Math.min(BATCH, count - signed.length) }, () =>
          admission(event),
        );
        signed.push(...(await Promise.all(batch)));
      }
      return signed;
    },
  };
}

async function serve(
  bench: Bench,
  answer: (path: string) => Promise<readonly [type: string, text: string] | undefined>,
): Promise<string> {
  const server = createServer((request, response) => {
    void answer(request.url ?? "").then((found) => {
      const [type, text] = found ?? ["text/plain", ""];
      const headers = { "content-type": type, "cache-control": "no-store" };
      response.writeHead(found === undefined ? 404 : 200, headers);
      response.end(text);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  bench.processes.finally(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
