/** Tokens that nobody may take: a drill whose verifiers accept everything proves nothing. */
import { ADMISSION_HEADER } from "@vestibule/contracts/names";
import { epochSeconds, ticketNumber, toMs } from "@vestibule/kernel/units";
import { generateKeyPair } from "@vestibule/keys/key-pair";
import { importPrivateJwk, type SigningKey } from "@vestibule/keys/signing-key";
import { signAdmission, signTicket } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";
import type { Fan, Shown } from "./shown.ts";

/** Either token of `shown` is forged; the other one is genuine. */
export interface Forgery {
  readonly what: string;
  readonly token: "admission" | "ticket";
  readonly shown: Shown;
}

export type Forger = (
  fan: Fan,
  of: { issuer: string; event: string },
) => Promise<readonly Forgery[]>;

/** With a key that no mint knows. */
export async function createForger(): Promise<Forger> {
  const imported = await importPrivateJwk((await generateKeyPair()).privateJwk);
  if (!imported.ok) throw new Error("the runtime makes no keys");
  const stranger = imported.value.signingKey;
  // Every checker is shown the same ones.
  const made = new WeakMap<Fan, Promise<readonly Forgery[]>>();
  const make = async (
    fan: Fan,
    { issuer, event }: { issuer: string; event: string },
  ): Promise<readonly Forgery[]> => {
    const { visitor, ticket, admission, admissionFacts, ticketFacts } = fan;
    const sub = hashVisitor(visitor);
    const sign = (key: SigningKey): Promise<string> =>
      signAdmission(key, {
        ...{ issuer, event, sub, number: ticketNumber(1), action: "purchase" },
        iat: epochSeconds(admissionFacts.iat),
        opensAt: toMs(epochSeconds(admissionFacts.nbf)),
        lifetimeSeconds: admissionFacts.exp - admissionFacts.nbf,
      });
    const impostor = { ...stranger, kid: admissionFacts.kid };
    const shown = { visitor, ticket, admission };
    const admissions: [string, string][] = [
      ["signed by a key that nobody knows", await sign(stranger)],
      ["signed by another key under a known name", await sign(impostor)],
      ["changed after it was signed", tampered(admission)],
      ["a ticket in its place", ticket],
    ];
    const forgedTicket = await signTicket(stranger, {
      ...{ issuer, event, sub, place: { number: ticketNumber(1) } },
      iat: epochSeconds(ticketFacts.iat),
      exp: epochSeconds(ticketFacts.exp),
    });
    return [
      ...admissions.map(([what, text]): Forgery => ({
        ...{ what: `${ADMISSION_HEADER} ${what}`, token: "admission" },
        shown: { ...shown, admission: text },
      })),
      {
        ...{ what: "a ticket signed by a key that nobody knows", token: "ticket" },
        shown: { ...shown, ticket: forgedTicket },
      },
    ];
  };
  return (fan, of) => {
    const known = made.get(fan) ?? make(fan, of);
    made.set(fan, known);
    return known;
  };
}

/** Another number in the claims, the signature as it was. */
function tampered(token: string): string {
  const [header = "", , signature = ""] = token.split(".");
  const claims = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
  const changed = claims.replace(/"exp":(\d+)/, (_, exp: string) => `"exp":${Number(exp) + 1}`);
  return `${header}.${Buffer.from(changed).toString("base64url")}.${signature}`;
}
