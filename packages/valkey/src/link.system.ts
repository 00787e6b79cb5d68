/**
 * One connection to the store, from its making to its loss; `client.system.ts` then makes the next. The driver's
 * own reconnecting is switched off: in 6.0.0 a call under way when the connection drops never settles without
 * `autoResendUnfulfilledCommands` (redis/ioredis 2193), and with it would be sent, and counted, twice.
 */
import { Cluster, Redis } from "ioredis";

import { Deadlines, type Waiting } from "./deadlines.system.ts";
import type { StoreAddress } from "./store-url.ts";
import { readFacts, type StoreFacts } from "./store-facts.ts";
import { isReasonToLeave, troubleOf } from "./store-trouble.ts";
import { StoreAwayError } from "./token-bucket.ts";

export type Store = Redis | Cluster;

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
const REPLY_CHARS_MAX = 200;

export interface LinkOptions {
  readonly address: StoreAddress;
  readonly deadlineMs: number;
  /** It may be used. `facts` is empty when the server does not let us look. */
  readonly onUp: (facts: readonly StoreFacts[]) => void;
  /** Once, at the end. A loss of what never was up is one too. */
  readonly onLost: (reason: string) => void;
}

/** Something to send, and what to make of what comes back. */
export interface Question<Reply> {
  /** For messages. */
  readonly name: string;
  readonly send: (store: Store) => Promise<unknown>;
  /** What to send instead, once, after an error reply of this code, if anything. */
  readonly sendInstead?: (store: Store, code: string) => Promise<unknown> | undefined;
  /** Undefined when this is no answer to it: whatever answered is not to be believed. */
  readonly read: (reply: unknown) => Reply | undefined;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #store: Store;
  readonly #deadlines: Deadlines;
  #unanswered = 0;
  #state: "connecting" | "up" | "lost" = "connecting";
  /** How many replies there have been, errors too. */
  #replies = 0;
  #repliesAtBeat = 0;
  readonly #connectTimer: NodeJS.Timeout;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { place } = options.address;
    const nodes = place.kind === "cluster" ? place.nodes.length : 0;
    this.#store = openStore(options);
    this.#deadlines = new Deadlines(options.deadlineMs, (call) => this.#give(call));
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
   * Asks, and settles within the deadline.
   *
   * @throws StoreAwayError
   */
  call<Reply>(question: Question<Reply>): Promise<Reply> {
    if (this.#state === "lost") return Promise.reject(new StoreAwayError("not connected"));
    if (this.#unanswered >= UNANSWERED_MAX) {
      return Promise.reject(new StoreAwayError(`${UNANSWERED_MAX} calls are unanswered`));
    }
    // The hot path: one promise of ours for each call, and no timer.
    return new Promise((resolve, reject) => {
      const waiting = this.#deadlines.add(reject, this.#replies);
      this.#unanswered += 1;
      const onReply = (reply: unknown): void => {
        this.#settled(waiting, true);
        const read = question.read(reply);
        if (read !== undefined) return resolve(read);
        reject(new StoreAwayError(`${question.name}: not an answer to it`));
        this.lose("rubbish");
      };
      const onError = (error: unknown): void => {
        const { answered, code } = troubleOf(error);
        this.#settled(waiting, answered);
        reject(awayFor(error, question.name));
        if (answered && (isReasonToLeave(code) || !this.isUp)) this.lose(code);
      };
      const onRefusal = (refusal: unknown): void => {
        const { answered, code } = troubleOf(refusal);
        // What nobody waits for any more is not asked again.
        const isAsked = answered && this.#deadlines.has(waiting);
        const instead = isAsked ? question.sendInstead?.(this.#store, code) : undefined;
        if (instead === undefined) onError(refusal);
        else void instead.then(onReply, onError);
      };
      try {
        question.send(this.#store).then(onReply, onRefusal);
      } catch (error) {
        onError(error);
      }
    });
  }

  #settled(waiting: Waiting, answered: boolean): void {
    this.#unanswered -= 1;
    if (answered) this.#replies += 1;
    this.#deadlines.remove(waiting);
  }

  /** Gives a call up that is not answered in time. */
  #give({ fail, repliesBefore }: Waiting): void {
    fail(new StoreAwayError(`no answer within ${this.#options.deadlineMs} ms`));
    // Nothing at all since it was sent: what is sent now would only queue up behind it.
    if (this.#replies === repliesBefore) this.lose("silent");
  }

  /** Ends it and fails what is under way, at once. */
  lose(reason: string): void {
    if (this.#state === "lost") return;
    this.#state = "lost";
    clearTimeout(this.#connectTimer);
    clearInterval(this.#heartbeat);
    this.#deadlines.failAll(new StoreAwayError(`connection lost: ${reason}`));
    this.#store.disconnect();
    this.#options.onLost(reason);
  }

  /** The driver is content when TCP is; this waits for the server's own word. */
  async #look(): Promise<void> {
    try {
      const known = (await this.#facts()).filter((fact) => fact !== "hidden");
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
    } catch {
      // Whatever else it was has been the reason already.
      this.lose("silent");
    }
  }

  /** Of each server that takes writes, by `INFO`; "hidden" for those that do not allow it. */
  #facts(): Promise<readonly (StoreFacts | "hidden")[]> {
    const nodes = this.#store instanceof Redis ? [this.#store] : this.#store.nodes("master");
    return Promise.all(
      nodes.map((node) => {
        let isHidden = false;
        return this.call({
          name: "INFO",
          send: () => node.info(),
          sendInstead: (_, code) => {
            isHidden = code === "NOPERM";
            return isHidden ? node.ping() : undefined;
          },
          read: (reply) => (isHidden ? "hidden" : readFacts(reply)),
        });
      }),
    );
  }

  #beat(): void {
    const isIdle = this.#replies === this.#repliesAtBeat;
    this.#repliesAtBeat = this.#replies;
    if (!isIdle) return;
    // An error reply is a sign of life too, and silence has been dealt with.
    this.call({ name: "PING", send: (store) => store.ping(), read: () => true }).catch(() => {});
  }
}

/** An error reply to what is asked here holds no credential: it was not sent any. */
function awayFor(error: unknown, name: string): StoreAwayError {
  const { answered, code } = troubleOf(error);
  if (!answered) return new StoreAwayError(`connection lost: ${code}`);
  const text = error instanceof Error ? error.message.slice(0, REPLY_CHARS_MAX) : "";
  return new StoreAwayError(`${name}: ${text}`);
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
