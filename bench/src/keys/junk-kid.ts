/** A token whose `kid` is made up: whoever floods a location with such asks it to look for newer keys. */
import { randomBytes } from "node:crypto";

import { ADMISSION_TYP } from "@vestibule/token/types";

/** As long as a real one with the number behind it. */
const PREFIX = randomBytes(24).toString("base64url");
const KID_CHARS = 43;

let made = 0;

/** `token` under the header of a key that nobody has, another one each time. */
export function withJunkKid(token: string): string {
  made += 1;
  const kid = PREFIX + String(made).padStart(KID_CHARS - PREFIX.length, "-");
  const header = `{"alg":"Ed25519","typ":"${ADMISSION_TYP}","kid":"${kid}"}`;
  return Buffer.from(header).toString("base64url") + token.slice(token.indexOf("."));
}
