/** A script of its own, in the pages of events that ask for proof of work: lends the page's script its work. */
import { prove } from "@vestibule/client/proof";
import type { ProofOfWork } from "@vestibule/contracts/line-api";

const encoder = new TextEncoder();

// Browsers hash for pages that came by https only.
if (isSecureContext) {
  Object.assign(globalThis, {
    vestibuleProve: (work: ProofOfWork) =>
      prove(work, (text) => crypto.subtle.digest("SHA-256", encoder.encode(text))),
  });
}
