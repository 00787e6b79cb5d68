/** Laws 4, 5 and 9 as they can be seen where admissions are shown. */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import type { Fan } from "../actors/fan.ts";
import type { Location } from "../actors/location.ts";
import { SKEW_SECONDS } from "../actors/mint-process.ts";
import type { VirtualTime } from "../world/virtual-time.ts";
import type { Laws, Signed } from "./laws.ts";
import type { Trace } from "./trace.ts";

const TOLERANCE_MS = SKEW_SECONDS * 1_000;
const LATE_MS_MAX = 30_000;

export interface AdmissionParts {
  readonly time: VirtualTime;
  readonly laws: Laws;
  readonly trace: Trace;
  readonly locations: readonly Location[];
  readonly random: SeededRandomness;
  readonly about: ManifestEvent;
  readonly stock: number;
}

export class Admissions {
  /** When the last one is shown for the last time. */
  lastAt = 0;
  readonly #parts: AdmissionParts;
  readonly #signed = new Map<string, Signed>();
  readonly #sold = new Set<string>();
  readonly #soldNumbers = new Set<number>();

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  signed(
    text: string,
    claims: { n: number; sub: string; opensAt: number; lifetimeSeconds: number },
    offsetMs: number,
  ): void {
    const { n, sub, opensAt, lifetimeSeconds } = claims;
    const nbf = Math.floor(opensAt / 1_000);
    this.#signed.set(text, { n, sub, nbf, exp: nbf + lifetimeSeconds, offsetMs });
  }

  /** Law 4. */
  sold({ jti, n, left }: { jti: string; n: number; left: number }): void {
    const { laws, trace } = this.#parts;
    trace.note(`${n} buys, ${left} left`);
    if (this.#sold.has(jti) || this.#soldNumbers.has(n)) laws.break(`law 4: ${n} is spent twice`);
    this.#sold.add(jti);
    this.#soldNumbers.add(n);
    if (left < 0) laws.break("law 4: more is sold than there is");
  }

  /** It is shown at once, at some moment of its time, and again when that is long over. */
  claimed(fan: Fan, admission: string): void {
    const { time, random, locations } = this.#parts;
    const signed = this.#signed.get(admission);
    if (signed === undefined) return;
    const { nbf, exp, offsetMs } = signed;
    const within = random.integer({ min: nbf * 1_000, max: exp * 1_000 });
    const after = exp * 1_000 + 2 * TOLERANCE_MS + random.integer({ min: 1, max: LATE_MS_MAX });
    this.lastAt = Math.max(this.lastAt, after - offsetMs);
    for (const at of [time.now, within - offsetMs, after - offsetMs]) {
      time.at(at, () => {
        for (const location of locations) this.#probe(location, fan, admission);
      });
    }
  }

  /** Laws 5 and 9: wherever it is shown, a good one is taken and a bad one is not, mint or no mint. */
  presented(fan: Fan, admission: string, verdict: string): void {
    const { trace, locations, random } = this.#parts;
    trace.note(`${fan.name} shows the admission of ${fan.number}: ${verdict}`);
    const forged = random.chance(20) ? forge(admission, random) : undefined;
    for (const location of locations) {
      this.#probe(location, fan, admission);
      if (forged !== undefined) this.#probe(location, fan, forged);
    }
  }

  #probe(location: Location, fan: Fan, admission: string): void {
    const { laws, time, about } = this.#parts;
    const signed = this.#signed.get(admission);
    for (const isolate of location.isolates) {
      const now = location.machine.clock.now();
      // One that knows nothing at all yet would have to ask, and that takes time.
      if (isolate.feed.drip(about.event) === undefined) continue;
      const shown = { ...fan.credentials, admission };
      const expected = signed === undefined ? "refuse" : expectedOf(signed, time.now, location);
      void Promise.resolve(isolate.admissions.check(shown, about, now)).then(({ kind }) => {
        const name = location.machine.name;
        if (kind === "admitted" && expected === "refuse") {
          laws.break(`law 5: ${name} takes a bad admission of ${fan.name}`);
        }
        if (expected === "admit" && kind !== "admitted" && kind !== "held" && kind !== "cut") {
          laws.break(`law 5: ${name} answers ${kind} to a good admission of ${fan.name}`);
        }
        const isHeld = isolate.feed.drip(about.event)?.claims.heldSince !== undefined;
        if (kind === "held" && !isHeld) laws.break(`law 5: ${name} knows of a hold that is none`);
      });
    }
  }
}

/** What must come of it there; `either`: within the tolerance of its edges. */
function expectedOf(
  { nbf, exp, offsetMs }: Signed,
  now: number,
  { machine }: Location,
): "admit" | "refuse" | "either" {
  const apart = Math.abs(machine.clock.offsetMs - offsetMs);
  if (apart > TOLERANCE_MS) return "either";
  const atMint = now + offsetMs;
  if (atMint >= nbf * 1_000 && atMint < exp * 1_000) return "admit";
  const isFarOff =
    atMint < nbf * 1_000 - 2 * TOLERANCE_MS || atMint >= exp * 1_000 + 2 * TOLERANCE_MS;
  return isFarOff ? "refuse" : "either";
}

/** One character of the claims or of the signature is another one. */
function forge(text: string, random: SeededRandomness): string {
  const from = text.indexOf(".") + 1;
  const at = random.integer({ min: from, max: text.length - 2 });
  const other = text[at] === "A" ? "B" : "A";
  return (
    text.slice(0, at) +
    (text[at] === "." ? "." : other) +
    text.slice(at + 1) +
    (text[at] === "." ? "A" : "")
  );
}
