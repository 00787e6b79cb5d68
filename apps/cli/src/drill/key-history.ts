/** Copies of the key set as they were some time ago, also before the drill began. */
import type { KeysView } from "@vestibule/contracts/keys-api";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";

interface Copy {
  readonly at: number;
  readonly text: string;
  readonly keys: KeySet;
}

export class KeyHistory {
  readonly #copies: Copy[];
  readonly #view: KeysView;
  readonly #first: Readonly<Record<string, unknown>>;
  /** Of the time before the drill, by the moment at which a set began. */
  readonly #older = new Map<number, KeySet>();

  private constructor(first: Copy, view: KeysView) {
    this.#copies = [first];
    this.#view = view;
    this.#first = JSON.parse(first.text) as Record<string, unknown>;
  }

  /** @returns `undefined` when the set is none that our verifiers take. */
  static async begin(text: string, view: KeysView, at: number): Promise<KeyHistory | undefined> {
    const keys = await read(text);
    return keys === undefined ? undefined : new KeyHistory({ at, text, keys }, view);
  }

  /** What the mint answers now. A set that is refused changes nothing, as at a location. */
  async note(text: string, at: number): Promise<void> {
    if (this.#copies.at(-1)?.text === text) return;
    const keys = await read(text);
    if (keys !== undefined) this.#copies.push({ at, text, keys });
  }

  get newest(): KeySet | undefined {
    return this.#copies.at(-1)?.keys;
  }

  /**
   * The copy that a location has whose key set is as old as `at`. Of the time before the drill it is put together: keys
   * that were published by then, without ends that were set later. Nobody has a copy older than the first set.
   */
  async at(at: number): Promise<KeySet | undefined> {
    const known = this.#copies.findLast((copy) => copy.at <= at);
    if (known !== undefined) return known.keys;
    const begins = Math.min(...this.#view.keys.map(({ createdAt }) => createdAt));
    const moments = this.#view.keys.flatMap(({ createdAt, since }) => [createdAt, since]);
    const then = Math.max(begins, ...moments.filter((moment) => moment <= at));
    let older = this.#older.get(then);
    if (older === undefined) {
      older = await this.#putTogether(then);
      if (older !== undefined) this.#older.set(then, older);
    }
    return older;
  }

  async #putTogether(then: number): Promise<KeySet | undefined> {
    const entries = this.#first["keys"] as readonly Readonly<Record<string, unknown>>[];
    const keys = entries.flatMap(({ exp, ...entry }) => {
      const seen = this.#view.keys.find(({ kid }) => kid === entry["kid"]);
      if (seen === undefined || seen.createdAt > then) return [];
      return [exp === undefined || seen.since > then ? entry : { ...entry, exp }];
    });
    return read(JSON.stringify({ keys }));
  }
}

async function read(text: string): Promise<KeySet | undefined> {
  try {
    const set = await parseJwks(JSON.parse(text));
    return set.ok ? set.value : undefined;
  } catch {
    return undefined;
  }
}
