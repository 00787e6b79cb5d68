import { inspect } from "node:util";

/** A text that no log, message or JSON shows by accident. Only `reveal()` gives it away. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }
}

// What console.log and assertion messages use.
Object.defineProperty(Secret.prototype, inspect.custom, { value: () => "[secret]" });
