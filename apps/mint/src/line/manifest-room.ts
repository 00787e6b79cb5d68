/** All events are in one manifest, and locations take one only up to a length: what would make it longer than that is refused. */
import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { Mistake } from "@vestibule/contracts/parse";
import type { Clock } from "@vestibule/kernel/clock";
import { problem } from "@vestibule/service/problems";
import { ISSUER_CHARS_MAX, MANIFEST_JSON_BYTES_MAX, WRITES_MAX } from "../limits.ts";
import { SerialQueue } from "./serial-queue.ts";
import { type Listed, manifestClaims } from "./statement.ts";

export class ManifestRoom {
  readonly #events: () => readonly Listed[];
  readonly #clock: Clock;
  readonly #queue = new SerialQueue({ jobsMax: WRITES_MAX });

  /** @param events all that there are. */
  constructor(events: () => readonly Listed[], { clock }: { clock: Clock }) {
    this.#events = events;
    this.#clock = clock;
  }

  /**
   * Runs `publish`, which makes `settings` those of its event, when there is room for them. One that makes the manifest longer
   * waits for the one before, so that no two take the same room; all others go at once.
   *
   * @throws AppError `invalid-settings`, `unavailable` when too many wait, and as `publish` does.
   */
  async take<Value>(settings: EventSettings, publish: () => Promise<Value>): Promise<Value> {
    if (this.#growth(settings) <= 0) return publish();
    return this.#queue.run(() => {
      const errors = this.mistakes(settings);
      if (errors.length > 0) throw problem("invalid-settings", { extensions: { errors } });
      return publish();
    });
  }

  /** Why there is no room for `settings`, if there is none. */
  mistakes(settings: EventSettings): readonly Mistake[] {
    const growth = this.#growth(settings);
    const bytes = this.#bytes(this.#events()) + growth;
    if (growth <= 0 || bytes <= MANIFEST_JSON_BYTES_MAX) return [];
    const field = Object.keys(settings.looks ?? {}).length > 0 ? "looks" : "paths";
    const message =
      `With it the manifest of all events would have ${bytes} bytes, and locations take ${MANIFEST_JSON_BYTES_MAX}: ` +
      "make it shorter, or the looks and paths of other events, or archive events that have ended";
    return [{ field, message }];
  }

  /** Bytes by which `settings` make the manifest longer, the comma included. */
  #growth(settings: EventSettings): number {
    const before = this.#events().find((listed) => listed.settings.event === settings.event);
    const facts = before?.facts ?? { endedAt: undefined };
    const bytesBefore = this.#bytes(before === undefined ? [] : [before]);
    return this.#bytes([{ settings, facts }]) - bytesBefore + (before === undefined ? 1 : 0);
  }

  /** Of the manifest before it is signed, with the longest issuer. */
  #bytes(events: readonly Listed[]): number {
    const issuer = "i".repeat(ISSUER_CHARS_MAX);
    const now = this.#clock.now();
    const claims = manifestClaims(events, { issuer, seq: Number.MAX_SAFE_INTEGER, now });
    return Buffer.byteLength(JSON.stringify(claims));
  }
}
