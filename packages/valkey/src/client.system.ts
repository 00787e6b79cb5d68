import { createHash } from "node:crypto";

import { Link } from "./link.system.ts";
import { retryDelayMs } from "./retry-delay.ts";
import type { Script } from "./script.ts";
import type { StoreFacts } from "./store-facts.ts";
import type { StoreLog } from "./store-log.ts";
import { parseStoreUrl, type StoreAddress } from "./store-url.ts";
import { StoreAwayError } from "./token-bucket.ts";

/** A connection that lived so long was a good one: the next is made at once again. */
const GOOD_AFTER_MS = 1_000;
const CLOSE_MS_MAX = 1_000;
const CLOSE_LOOK_MS = 5;

/** A client of Valkey or Redis that runs scripts and is never waited for. */
export interface ValkeyClient {
  /**
   * Runs a script by its SHA-1, and by its text when the server does not know it: one round trip more. It is sent
   * once. When the answer is lost it may have been carried out.
   *
   * @param keys in a cluster all of one slot.
   * @throws StoreAwayError within the deadline, whatever the server does: refuses, swallows packets, never
   * answers, is loading, full or a replica, has no such script, answers rubbish.
   */
  run<Reply>(
    script: Script<Reply>,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<Reply>;
  /** The connection stands, and the server, which takes writes, was heard about a second ago. For metrics. */
  isUp(): boolean;
  /** Lets calls under way finish; returns within a second whatever the server does. Later calls fail. */
  close(): Promise<void>;
}

/**
 * Returns at once and connects by itself, now and after each loss, about every half second; calls neither
 * wait for that nor put it off. While there is no connection they fail immediately.
 *
 * @param options.url see `parseStoreUrl`. One that turns out to be a node of a cluster is used as one.
 * @param options.deadlineMs longest that a call takes, milliseconds.
 * @throws TypeError when `url` cannot be understood. Its text never holds the password.
 */
export function connectValkey(options: {
  url: string;
  deadlineMs: number;
  log: StoreLog;
}): ValkeyClient {
  return new ReconnectingClient(parseStoreUrl(options.url), options.deadlineMs, options.log);
}

class ReconnectingClient implements ValkeyClient {
  /** As it was configured. */
  readonly #given: StoreAddress;
  /** As it is used now. */
  #address: StoreAddress;
  readonly #deadlineMs: number;
  readonly #log: StoreLog;
  readonly #hashes = new Map<string, string>();
  #link: Link;
  #attempts = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #closed = false;
  #saidReason: string | undefined;
  #saidPolicy: string | undefined;

  constructor(address: StoreAddress, deadlineMs: number, log: StoreLog) {
    this.#given = address;
    this.#address = address;
    this.#deadlineMs = deadlineMs;
    this.#log = log;
    this.#link = this.#connect();
  }

  run<Reply>(
    script: Script<Reply>,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<Reply> {
    const link = this.#link;
    if (this.#closed) return Promise.reject(new StoreAwayError("closed"));
    if (!link.isUp) return Promise.reject(new StoreAwayError("not connected"));
    return link.call({
      name: script.name,
      send: (store) => store.evalsha(this.#hashOf(script), keys.length, ...keys, ...args),
      sendInstead: (store, code) =>
        code === "NOSCRIPT" ? store.eval(script.text, keys.length, ...keys, ...args) : undefined,
      read: (reply) => script.read(reply, args),
    });
  }

  isUp(): boolean {
    return !this.#closed && this.#link.isUp;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    const until = performance.now() + CLOSE_MS_MAX;
    while (this.#link.isUp && this.#link.unanswered > 0 && performance.now() < until) {
      await new Promise((resolve) => {
        setTimeout(resolve, CLOSE_LOOK_MS);
      });
    }
    this.#link.lose("closed by us");
  }

  #hashOf({ text }: Script<unknown>): string {
    const known = this.#hashes.get(text);
    if (known !== undefined) return known;
    const hash = createHash("sha1").update(text).digest("hex");
    this.#hashes.set(text, hash);
    return hash;
  }

  #connect(): Link {
    let upSinceMs: number | undefined;
    return new Link({
      address: this.#address,
      deadlineMs: this.#deadlineMs,
      onUp: (facts) => {
        upSinceMs = performance.now();
        this.#sayUp(facts);
      },
      onLost: (reason) => {
        if (this.#closed) return;
        const upMs = upSinceMs === undefined ? 0 : performance.now() - upSinceMs;
        if (upMs >= GOOD_AFTER_MS) this.#attempts = 0;
        const isNode = reason === "MOVED" && this.#becomeCluster();
        if (!isNode) this.#sayAway(reason);
        // Learned, not configured, and not so any more: a node may become a plain server again, and one reply
        // that says MOVED is not believed for longer than until the next try.
        if (!isNode && upSinceMs === undefined) this.#address = this.#given;
        const delayMs = retryDelayMs(this.#attempts, Math.random());
        this.#attempts += 1;
        this.#retryTimer = setTimeout(() => {
          this.#link = this.#connect();
        }, delayMs);
      },
    });
  }

  /** Whether a single address became the seed of a cluster. */
  #becomeCluster(): boolean {
    const { place, database } = this.#address;
    if (place.kind !== "server" || database !== 0) return false;
    this.#address = { ...this.#address, place: { kind: "cluster", nodes: [place.node] } };
    return true;
  }

  #sayUp(facts: readonly StoreFacts[]): void {
    const store = this.#address.label;
    this.#saidReason = undefined;
    const mode = this.#address.place.kind === "cluster" ? "cluster" : "single";
    this.#log("store-connected", { store, mode });

    const policies = facts.map((fact) => fact.evictionPolicy);
    const isUnknown = policies.length === 0 || policies.includes(undefined);
    const policy = policies.find((name) => name !== undefined && name !== "noeviction");
    const said = policy ?? (isUnknown ? "unknown" : "noeviction");
    if (said === this.#saidPolicy) return;
    this.#saidPolicy = said;
    if (policy !== undefined) this.#log("store-may-evict", { store, policy });
    else if (isUnknown) this.#log("store-safety-unknown", { store, reason: "INFO does not say" });
  }

  #sayAway(reason: string): void {
    if (reason === this.#saidReason) return;
    this.#saidReason = reason;
    const store = this.#address.label;
    if (reason === "READONLY") this.#log("store-is-a-replica", { store });
    this.#log("store-away", { store, reason });
  }
}
