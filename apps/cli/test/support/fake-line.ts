/** The line of the fake mint: slots as a test commits them, and claims as the real desk decides them. */
import type { DripClaims } from "@vestibule/contracts/statements";
import { slotOf } from "@vestibule/drip/line";
import { epochMs, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { signAdmission } from "@vestibule/token/sign";

const WINDOW_MS = 60_000;
const LIFETIME_SECONDS = 600;

export class FakeLine {
  /** What a statement says at this moment, besides what every one says. */
  drip: (now: number) => Partial<DripClaims> = () => ({});
  /** The last slot that was claimed of each number; a later one only after a cut. */
  readonly claimed = new Map<number, number>();
  /** Claims of one number for a slot that it has already are no new ones. */
  claims = 0;

  async claim(asked: {
    readonly n: number;
    readonly sub: string;
    readonly confirmed: boolean | undefined;
    readonly now: number;
    readonly issuer: string;
    readonly key: SigningKey;
  }): Promise<object> {
    const { n, sub, confirmed, now, issuer, key } = asked;
    const { segments = [], committed = 0, heldSince, presence } = this.drip(now);
    const opensAt = slotOf(segments, n, { heldSince });
    if (opensAt === undefined)
      return { refused: n <= committed && heldSince !== undefined ? "held" : "too-early" };
    if (this.claimed.get(n) !== opensAt) {
      if (now > opensAt + WINDOW_MS) return { refused: "slot-over" };
      if (presence === "confirm" && confirmed !== true) return { refused: "confirm-presence" };
      this.claims += 1;
      this.claimed.set(n, opensAt);
    }
    const admission = await signAdmission(key, {
      ...{ issuer, event: "spring", sub, number: ticketNumber(n), action: "purchase" },
      ...{ iat: toSeconds(epochMs(now)), opensAt, lifetimeSeconds: LIFETIME_SECONDS },
    });
    const closesAt = (Math.floor(opensAt / 1_000) + LIFETIME_SECONDS) * 1_000;
    return { opensAt, closesAt, admission };
  }
}
