/**
 * One connection to the store, from its making to its loss; `client.system.ts` then makes the next. The driver's
 * own reconnecting is switched off: in 6.0.0 a call under way when the connection drops never settles without
 * `autoResendUnfulfilledCommands` (redis/ioredis 2193), and with it would be sent, and counted, twice.
 */
import { Cluster, Redis } from "ioredis";

import type { StoreAddress } from "./store-url.ts";
import { readFacts, type StoreFacts } from "./store-facts.ts";
import { isReasonToLeave, troubleOf } from "./store-trouble.ts";
import { StoreAwayError } from "./token-bucket.ts";

type Store = Redis | Cluster;

/** A connection that is not usable by then is given up. */
const CONNECT_MS = 1_000;
/** A cluster asks its nodes one after another who holds what. */
const SLOTS_MS = 400;
const SLOTS_EVERY_MS = 2_000;
/** An idle connection shows that it is alive, so that `isUp` is true and no customer finds out. */
const HEARTBEAT_MS = 1_000;
/** Calls that the server may owe answers to: memory is bounded even while it answers slower than it is asked. */
const UNANSWERED_MAX = 5_000;
const REDIRECTIONS_MAX = 4;
const TRY_AGAIN_MS = 20;

export interface LinkOptions {
  readonly address: StoreAddress;
  readonly deadlineMs: number;
  /** It may be used. `facts` is empty when the server does not let us look. */
  readonly onUp: (facts: readonly StoreFacts[]) => void;
  /** Once, at the end. A loss of what never was up is one too. */
  readonly onLost: (reason: string) => void;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #store: Store;
  readonly #waiting = new Set<(reason: StoreAwayError) => void>();
  #unanswered = 0;
  #state: "connecting" | "up" | "lost" = "connecting";
  #lastReplyMs = Number.NEGATIVE_INFINITY;
  readonly #connectTimer: NodeJS.Timeout;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { place } = options.address;
    const nodes = place.kind === "cluster" ? place.nodes.length : 0;
    this.#store = openStore(options);
    this.#connectTimer = setTimeout(
      () => this.lose("no answer while connecting"),
      CONNECT_MS + nodes * SLOTS_MS,
    );
    this.#store.on("error", (error: unknown) => this.lose(troubleOf(error).code));
    this.#store.on("end", () => this.lose("closed"));
    this.#store.once("ready", () => {
      void this.#look();
    });
  }

  get isUp(): boolean {
    return this.#state === "up";
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  /**
   * Sends something, and settles within the deadline.
   *
   * @throws StoreAwayError, or the server's own error reply.
   */
  async call(send: (store: Store) => Promise<unknown>): Promise<unknown> {
    if (this.#state === "lost") throw new StoreAwayError("not connected");
    if (this.#unanswered >= UNANSWERED_MAX) {
      throw new StoreAwayError(`${UNANSWERED_MAX} calls are unanswered`);
    }
    const { deadlineMs } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const sentAtMs = performance.now();
    this.#waiting.add(reject);
    this.#unanswered += 1;
    const timer = setTimeout(() => {
      // Whatever has arrived is read first: it was this process that was late, not the store.
      setImmediate(() => {
        if (!this.#waiting.delete(reject)) return;
        reject(new StoreAwayError(`no answer within ${deadlineMs} ms`));
        // Nothing at all since then: what is sent now would only queue up behind it.
        if (this.#lastReplyMs < sentAtMs) this.lose("silent");
      });
    }, deadlineMs);
    send(this.#store)
      .finally(() => {
        this.#unanswered -= 1;
        this.#waiting.delete(reject);
        clearTimeout(timer);
      })
      .then(
        (reply) => {
          this.#lastReplyMs = performance.now();
          resolve(reply);
        },
        (error: unknown) => {
          const { answered, code } = troubleOf(error);
          if (answered) this.#lastReplyMs = performance.now();
          reject(answered ? error : new StoreAwayError(`connection lost: ${code}`));
          if (answered && isReasonToLeave(code)) this.lose(code);
        },
      );
    return promise;
  }

  /** Ends it and fails what is under way, at once. */
  lose(reason: string): void {
    if (this.#state === "lost") return;
    this.#state = "lost";
    clearTimeout(this.#connectTimer);
    clearInterval(this.#heartbeat);
    for (const fail of this.#waiting) fail(new StoreAwayError(`connection lost: ${reason}`));
    this.#waiting.clear();
    this.#store.disconnect();
    this.#options.onLost(reason);
  }

  /** The driver is content when TCP is; this waits for the server's own word. */
  async #look(): Promise<void> {
    try {
      const infos = await this.#infos();
      const facts = infos.map(readFacts);
      const known = facts.filter((fact) => fact !== undefined);
      if (known.length < facts.length) return this.lose("rubbish");
      if (this.#store instanceof Redis) {
        if (known.some((fact) => fact.isClusterNode)) return this.lose("MOVED");
        if (known.some((fact) => fact.isLoading)) return this.lose("LOADING");
        if (known.some((fact) => fact.isReplica)) return this.lose("READONLY");
      }
      if (this.#state !== "connecting") return;
      this.#state = "up";
      clearTimeout(this.#connectTimer);
      this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
      this.#heartbeat.unref();
      this.#options.onUp(known);
    } catch (error) {
      this.lose(error instanceof StoreAwayError ? "silent" : troubleOf(error).code);
    }
  }

  /** One `INFO` of each server that takes writes; none of those that do not allow it. */
  async #infos(): Promise<readonly unknown[]> {
    const nodes = this.#store instanceof Redis ? [this.#store] : this.#store.nodes("master");
    const infos = await Promise.all(
      nodes.map(async (node) => {
        try {
          return await this.call(() => node.info());
        } catch (error) {
          if (troubleOf(error).code !== "NOPERM") throw error;
          await this.call(() => node.ping());
          return undefined;
        }
      }),
    );
    return infos.filter((info) => info !== undefined);
  }

  #beat(): void {
    if (performance.now() - this.#lastReplyMs < HEARTBEAT_MS) return;
    // An error reply is a sign of life too, and silence has been dealt with.
    this.call((store) => store.ping()).catch(() => {});
  }
}

function openStore({ address, deadlineMs }: LinkOptions): Store {
  const { place, tls, username, password, database } = address;
  const common = {
    ...(tls ? { tls: {} } : {}),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    connectTimeout: CONNECT_MS,
    disconnectTimeout: 1,
    connectionName: "vestibule",
    disableClientInfo: true,
    // RESP2: nothing here needs RESP3's handshake, which some proxies refuse.
    protocol: 2 as const,
    enableReadyCheck: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
  };
  const single = {
    ...common,
    db: database,
    enableOfflineQueue: false,
    retryStrategy: () => null,
  };
  if (place.kind === "socket") {
    return new Redis({ ...single, path: place.path });
  }
  if (place.kind === "server") {
    return new Redis({ ...single, ...place.node });
  }
  return new Cluster([...place.nodes], {
    clusterRetryStrategy: null,
    enableOfflineQueue: false,
    maxRedirections: REDIRECTIONS_MAX,
    // 0 each: a call whose connection closed may have been carried out, and is not sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: TRY_AGAIN_MS,
    slotsRefreshTimeout: SLOTS_MS,
    slotsRefreshInterval: SLOTS_EVERY_MS,
    // Names stay names: certificates are checked against them, and each connection resolves anew.
    dnsLookup: (host, callback) => callback(null, host),
    // A node that is silent with calls outstanding is left, and the others go on.
    redisOptions: { ...common, socketTimeout: deadlineMs },
  });
}
