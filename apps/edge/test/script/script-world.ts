/**
 * The holding page's own script, as it is built, in a browser made of values: time goes by when a test says
 * so, and every request is answered by the test. Node only: it runs in a context of its own.
 */
import { createContext, runInContext } from "node:vm";
import { offerScript, script } from "#page-assets";
import type { DripView } from "@vestibule/contracts/statements";
import { languageOf } from "../../src/page/languages.ts";
import { EVENT, NOW } from "../event.ts";

export interface Answer {
  readonly status: number;
  readonly body?: object;
  readonly retryAfter?: number;
}

export interface Asked {
  /** Milliseconds since the page was opened. */
  readonly at: number;
  /** `drip`, `tickets`, `admissions`. */
  readonly name: string;
  /** What was sent with it, as it was sent. */
  readonly body?: string | undefined;
}

/** As much of an element as the page's script touches. */
class Element {
  hidden = false;
  href = "";
  checked = false;
  parentElement = { hidden: true };
  #text = "";
  dataset: Record<string, string> = {};
  readonly classList = { add: () => undefined, toggle: () => undefined };
  readonly style = { setProperty: () => undefined };
  readonly children: Element[] = [];
  readonly #inner = new Map<string, Element>();
  readonly #onText: () => void;
  isFocused = false;
  #onSubmit: ((event: { preventDefault: () => void }) => void) | undefined;

  /** `onText`: when text is set, for a live region is read out then. */
  constructor(onText: () => void) {
    this.#onText = onText;
  }

  get textContent(): string {
    return this.#text;
  }
  set textContent(text: string) {
    this.#onText();
    this.#text = text;
  }
  querySelector(selector: string): Element {
    let found = this.#inner.get(selector);
    if (found === undefined) this.#inner.set(selector, (found = new Element(this.#onText)));
    return found;
  }
  getAttribute(name: string): string | null {
    return this.dataset[name] ?? null;
  }
  setAttribute(name: string, value: string): void {
    this.dataset[name] = value;
  }
  addEventListener(event: string, heard: (event: { preventDefault: () => void }) => void): void {
    if (event === "submit" || event === "change") this.#onSubmit = heard;
  }
  after(): void {}
  append(): void {}
  focus(): void {
    this.isFocused = true;
  }
  submit(): void {
    this.#onSubmit?.({ preventDefault: () => undefined });
  }
}

export class ScriptWorld {
  readonly asked: Asked[] = [];
  /** How often the page was loaded anew: moving in. */
  reloads = 0;
  /** Addresses that were loaded instead, and the one that the page has put in the place of its own. */
  readonly replaced: string[] = [];
  address: string | undefined;
  /** Every state that was shown, in order. */
  readonly states: string[] = [];
  /** How often text was set on the page. */
  written = 0;
  /** What the browser keeps for all its tabs. */
  readonly stored: Map<string, string>;
  drip: Partial<DripView> = {};
  /** What joins and claims are answered. */
  grant: (name: string) => Answer = () => ({ status: 503 });
  /** What polls are answered with. */
  dripStatus = 200;
  #onStorage: (told: object) => void = () => undefined;
  #seq = 1;
  #ms = 0;
  #timers: { readonly id: number; readonly at: number; readonly run: () => void }[] = [];
  #ids = 0;
  readonly #root = new Element(() => (this.written += 1));
  readonly document = {
    title: "",
    hidden: false,
    documentElement: this.#root,
    addEventListener: () => undefined,
    getElementById: (id: string) => this.#element(id),
    createElement: () => new Element(() => undefined),
    body: this.#root,
    querySelector: (selector: string) => this.#root.querySelector(selector),
  };

  constructor(data: {
    readonly number?: number;
    readonly credit?: boolean;
    readonly order?: string;
    readonly missed?: boolean;
    readonly back?: string;
    readonly condition?: "clock";
    readonly returns?: boolean;
    readonly claimed?: { readonly opensAt: number; readonly closesAt: number };
    readonly now?: number;
    readonly claimWindowSeconds?: number;
    readonly hidden?: boolean;
    readonly drip?: object;
    readonly gone?: boolean;
    readonly shut?: boolean;
    /** Of another tab of the same browser. */
    readonly stored?: Map<string, string>;
  }) {
    this.stored = data.stored ?? new Map<string, string>();
    this.drip = data.drip ?? {};
    const {
      drip: _statement,
      stored: _stored,
      hidden = false,
      claimWindowSeconds,
      ...known
    } = data;
    const settings = {
      ...EVENT,
      ...(claimWindowSeconds === undefined ? {} : { claimWindowSeconds }),
    };
    this.document.hidden = hidden;
    const { dataset } = this.#root.querySelector("main");
    this.#root.querySelector("main").dataset = new Proxy(dataset, {
      set: (to, name, value: string) => {
        if (name === "state") this.states.push(value);
        return Reflect.set(to, name, value);
      },
    });
    this.#element("texts").textContent = new TextDecoder().decode(languageOf("en").bytes);
    this.#element("data").textContent = JSON.stringify({
      ...{ settings, now: NOW, title: EVENT.title, ...known },
    });
    this.#element("facts").children.push(this.#element("left"), this.#element("right"));
    runInContext(offerScript + script, createContext(this.#globals()));
  }

  /** Since the page was opened. */
  get ms(): number {
    return this.#ms;
  }
  get state(): string | undefined {
    return this.#root.querySelector("main").dataset["state"];
  }
  text(id: string): string {
    return this.#element(id).textContent;
  }
  /** Where the link to the order leads, once the script has said so. */
  get order(): string | undefined {
    return this.#element("order").querySelector("a").dataset["href"];
  }
  /** Whether the button of a form was given the focus. */
  hasFocus(id: string): boolean {
    return this.#element(id).querySelector("button").isFocused;
  }
  isShown(id: string): boolean {
    return !this.#element(id).hidden;
  }
  /** Presses the button of a form that is shown. */
  press(id: string): void {
    if (!this.isShown(id)) throw new Error(`${id} is not there to press`);
    this.#element(id).submit();
  }
  /** Requests of one kind, by when they were made. */
  times(name: string): number[] {
    return this.asked.filter((request) => request.name === name).map(({ at }) => at);
  }

  /** A statement with other news. */
  say(drip: Partial<DripView>): void {
    this.drip = drip;
    this.#seq += 1;
  }

  /** Another tab has written what the browser keeps for all. */
  tabWrote(): void {
    for (const [key, newValue] of this.stored) this.#onStorage({ key, newValue });
  }

  async pass(ms: number): Promise<void> {
    const until = this.#ms + ms;
    for (;;) {
      await settled();
      const [next] = this.#timers.toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > until) break;
      this.#timers = this.#timers.filter(({ id }) => id !== next.id);
      this.#ms = Math.max(this.#ms, next.at);
      next.run();
    }
    this.#ms = until;
    await settled();
  }

  #element(id: string): Element {
    return this.#root.querySelector(`#${id}`);
  }

  #globals(): object {
    const after = (run: () => void, ms: number): number => {
      this.#ids += 1;
      this.#timers.push({ id: this.#ids, at: this.#ms + ms, run });
      return this.#ids;
    };
    return {
      setTimeout: after,
      clearTimeout: (gone: number) => {
        this.#timers = this.#timers.filter(({ id }) => id !== gone);
      },
      Date: { now: () => NOW + this.#ms },
      performance: { timeOrigin: NOW, now: () => this.#ms, getEntriesByType: () => [] },
      fetch: (path: string, { body }: { body?: string } = {}) =>
        this.#answer(path.replace(/^.*\//, ""), body),
      AbortSignal: { timeout: () => undefined },
      addEventListener: (event: string, heard: (told: object) => void) => {
        if (event === "storage") this.#onStorage = heard;
      },
      navigator: { onLine: true },
      location: {
        reload: () => (this.reloads += 1),
        replace: (to: string) => this.replaced.push(to),
      },
      history: {
        replaceState: (_state: unknown, _title: string, to: string) => (this.address = to),
      },
      sessionStorage: { getItem: () => null, setItem: () => undefined },
      localStorage: {
        getItem: (name: string) => this.stored.get(name) ?? null,
        setItem: (name: string, value: string) => this.stored.set(name, value),
      },
      document: this.document,
    };
  }

  async #answer(name: string, sent: string | undefined): Promise<object> {
    this.asked.push({ at: this.#ms, name, body: sent });
    const {
      status,
      body = {},
      retryAfter,
    } = name === "drip" ? { status: this.dripStatus, body: this.#view() } : this.grant(name);
    return {
      ...{ status, ok: status < 300, json: () => Promise.resolve(body) },
      text: () => Promise.resolve(JSON.stringify(body)),
      headers: { get: () => (retryAfter === undefined ? null : String(retryAfter)) },
    };
  }

  #view(): object {
    const at = NOW + this.#ms;
    return {
      ...{ event: "demo", at, iat: Math.floor(at / 1000), exp: Math.floor(at / 1000) + 3_600 },
      ...{ seq: this.#seq, state: "open", serving: 100, committed: 100, skips: [], issued: 5_000 },
      ...{ rate: 60, notice: "", cuts: [], endsAt: EVENT.endsAt, segments: [], ...this.drip },
    };
  }
}

/** Whatever answers of values wait for is over. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
