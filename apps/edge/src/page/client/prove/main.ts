/** A script of its own, in the pages of events that ask for proof of work: lends the page's script its work. */
import { prove } from "@vestibule/client/proof";
import type { ProofOfWork } from "@vestibule/contracts/line-api";

/** Where the page's script finds it. */
export interface Proving {
  vstProve?: (work: ProofOfWork) => Promise<number>;
}

const channel = new MessageChannel();

/** A turn for presses and pictures: sooner than any timer. */
const breathe = (): Promise<void> =>
  new Promise((done) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- one at a time, and this starts the port
    channel.port1.onmessage = () => done();
    channel.port2.postMessage(0);
  });

// Browsers hash for pages that came by https only.
if (isSecureContext)
  (globalThis as Proving).vstProve = (work) =>
    prove(work, (text) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)), breathe);
