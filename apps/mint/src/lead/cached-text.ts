import type { EpochMs } from "@vestibule/kernel/units";

/** A signed text as a value: made when it is asked for and old or outdated, once for all who ask. */
export class CachedText {
  readonly #freshMs: number;
  #made: { readonly text: string; readonly at: EpochMs; readonly edition: string } | undefined;
  #making: { readonly edition: string; readonly text: Promise<string> } | undefined;

  constructor({ freshMs }: { freshMs: number }) {
    this.#freshMs = freshMs;
  }

  /** @param request.edition of what the text says: another one is never answered with an old text. */
  get(request: {
    readonly now: EpochMs;
    readonly edition: string;
    readonly make: () => Promise<string>;
  }): Promise<string> {
    const { now, edition, make } = request;
    const made = this.#made;
    if (made !== undefined && made.edition === edition && Math.abs(now - made.at) < this.#freshMs) {
      return Promise.resolve(made.text);
    }
    if (this.#making?.edition === edition) return this.#making.text;
    const making = { edition, text: make() };
    this.#making = making;
    return making.text
      .then((text) => {
        this.#made = { text, at: now, edition };
        return text;
      })
      .finally(() => {
        if (this.#making === making) this.#making = undefined;
      });
  }
}
