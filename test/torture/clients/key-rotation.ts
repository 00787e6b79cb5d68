/** Whoever is on call changes both keys, once, while everything fails: the next one signs as soon as that is safe. */
import { setTimeout as sleep } from "node:timers/promises";

import type { KeysView } from "@vestibule/contracts/keys-api";

import { type Answer, send } from "../../e2e/support/app.ts";

const LOOK_EVERY_MS = 2_000;
const USES = ["line", "admission"] as const;

export interface KeyRotationOptions {
  /** Addresses of the mints that run. */
  readonly mints: () => readonly string[];
  readonly adminToken: string;
  readonly say: (line: string) => void;
}

export class KeyRotation {
  readonly #options: KeyRotationOptions;
  /** Keys that signed when it began, or had signed before. */
  #old: ReadonlySet<string> | undefined;
  readonly #changed = new Set<string>();
  #isOver = false;
  #running: Promise<void> | undefined;

  constructor(options: KeyRotationOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isOver && this.#changed.size < USES.length) {
      // Whatever fails is tried again: each step says by itself whether it was done already.
      await this.#step().catch(() => {});
      await sleep(LOOK_EVERY_MS);
    }
  }

  async #step(): Promise<void> {
    const look = await this.#ask<KeysView>("GET", "");
    if (look === undefined) return;
    const { keys } = look.body;
    const old = (this.#old ??= new Set(keys.map(({ kid }) => kid)));
    for (const use of USES) {
      const fresh = keys.find((key) => key.use === use && !old.has(key.kid));
      if (fresh === undefined) {
        await this.#ask("POST", "", { use }, { "If-Match": look.headers.get("ETag") ?? "" });
        return; // another look: the ETag is used up
      }
      if (fresh.state === "signing" && !this.#changed.has(use)) {
        this.#changed.add(use);
        this.#options.say(`the next ${use} key signs`);
      }
      if (fresh.state === "staged") await this.#ask("POST", `/${fresh.kid}/activate`, {});
    }
  }

  /** What the leader says; `undefined` when there is none. */
  async #ask<Body>(
    method: string,
    path: string,
    json?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body> | undefined> {
    const { mints, adminToken } = this.#options;
    for (const mint of mints()) {
      const answer = await send<Body>(`${mint}/v1/admin/keys${path}`, {
        method,
        headers: { Authorization: `Bearer ${adminToken}`, ...headers },
        ...(json === undefined ? {} : { json }),
      }).catch(() => undefined);
      if (answer !== undefined && answer.status < 300) return answer;
    }
    return undefined;
  }
}
