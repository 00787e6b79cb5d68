/**
 * Tickets as `signTicket` of packages/token makes them, byte for byte (a test compares), with Node's
 * native base64url and without checks of claims that the caller has made itself. The mint signs one
 * per join: this is half of what a join costs besides the signature (bench row `mint-join`).
 */
import type { SigningKey } from "@vestibule/keys/signing-key";
import { subtle } from "@vestibule/keys/webcrypto";
import { TICKET_TYP } from "@vestibule/token/types";
import type { TicketClaims } from "../tokens.ts";

/** @returns a function that signs; Ed25519 signatures are deterministic, and so is the text. */
export function ticketSigner(
  issuer: string,
): (key: SigningKey, claims: TicketClaims) => Promise<string> {
  const inputOf = ticketInput(issuer);
  return async (key, claims) => {
    const input = inputOf(key, claims);
    const signature = await subtle.sign("Ed25519", key.key, Buffer.from(input, "latin1"));
    return `${input}.${Buffer.from(signature).toString("base64url")}`;
  };
}

/** @returns a function to what is signed: header and claims. Its characters are bytes. */
export function ticketInput(issuer: string): (key: SigningKey, claims: TicketClaims) => string {
  const iss = JSON.stringify(issuer);
  const headers = new WeakMap<SigningKey, string>();

  const headerOf = (key: SigningKey): string => {
    const known = headers.get(key);
    if (known !== undefined) return known;
    const json = JSON.stringify({ alg: key.alg, typ: TICKET_TYP, kid: key.kid });
    const header = Buffer.from(json).toString("base64url");
    headers.set(key, header);
    return header;
  };

  return (key, { event, sub, n, iat, exp }) => {
    // Slug, hash and whole numbers: nothing in them needs escaping.
    const claims = `{"iss":${iss},"aud":"${event}","sub":"${sub}","iat":${iat},"exp":${exp},"n":${n}}`;
    return `${headerOf(key)}.${Buffer.from(claims).toString("base64url")}`;
  };
}
