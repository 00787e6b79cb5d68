import type { EpochMs } from "@vestibule/kernel/units";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { KEYS_TRUST_MS } from "./limits.ts";
import { isNewerKeys, jwksSeq } from "./newer.ts";
import type { CachedText } from "./ports.ts";

/** The keys in force, and whether a statement told of newer ones. */
export class KnownKeys {
  readonly #bootKeys: KeySet | undefined;
  #known:
    | { readonly keys: KeySet; readonly fetchedAt: EpochMs; readonly seq: number | undefined }
    | undefined;
  /** The newest key set of which a statement told. */
  #seqTold = 0;

  constructor(bootKeys: KeySet | undefined) {
    this.#bootKeys = bootKeys;
  }

  /** `undefined` when none are known, or when they are older than they may be relied on. */
  inForce(now: EpochMs): KeySet | undefined {
    if (this.#known === undefined) return this.#bootKeys;
    return now - this.#known.fetchedAt <= KEYS_TRUST_MS ? this.#known.keys : undefined;
  }

  /** Once some were fetched. */
  get isFetched(): boolean {
    return this.#known !== undefined;
  }

  /** `null`: never fetched. */
  ageMs(now: EpochMs): number | null {
    return this.#known === undefined ? null : now - this.#known.fetchedAt;
  }

  get seq(): number | undefined {
    return this.#known?.seq;
  }

  /** For the question by which no cache answers with an older set. */
  get seqTold(): number {
    return this.#seqTold;
  }

  tell(seq: number | undefined): void {
    this.#seqTold = Math.max(this.#seqTold, seq ?? 0);
  }

  isBehind(): boolean {
    const known = this.seq;
    return known !== undefined && known < this.#seqTold;
  }

  /** `adopted`, or why not. */
  async adopt(entry: CachedText): Promise<string> {
    let json: unknown;
    try {
      json = JSON.parse(entry.text);
    } catch {
      return "not-json";
    }
    const read = await parseJwks(json);
    if (!read.ok) return read.refusal.reason;
    const next = { keys: read.value, fetchedAt: entry.fetchedAt, seq: jwksSeq(json) };
    if (this.#known !== undefined && !isNewerKeys(next, this.#known)) return "older";
    this.#known = next;
    return "adopted";
  }
}
