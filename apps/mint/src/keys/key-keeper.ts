/**
 * The mint's keys: read by every mint, changed by the leader alone. `keys/rotation` decides, this stores what it
 * decided, fenced, and signs with it only then. An answer that was lost is found out by reading again.
 */
import type { Clock } from "@vestibule/kernel/clock";
import type { KeySet } from "@vestibule/keys/key-set";
import {
  KEY_USES,
  type KeyUse,
  SIGNING_NAME_DEFAULT,
  type SigningName,
} from "@vestibule/keys/public-key";
import { check, type RotationRefusal, type RotationRequest } from "@vestibule/keys/rotation";
import { openSigningKey, type SigningKey } from "@vestibule/keys/signing-key";
import type { KeyVault } from "@vestibule/keys/vault";
import { problem } from "@vestibule/service/problems";
import { KEY_WRITES_MAX } from "../limits.ts";
import { SerialQueue } from "../line/serial-queue.ts";
import {
  type KeyRow,
  KeysMovedError,
  type Lead,
  type MintStore,
  type StoredKeys,
} from "../store/store.ts";
import { KeyDraft, type StepReason } from "./key-draft.ts";
import { type KeyFacts, type Policies, policies } from "./key-policy.ts";
import {
  adviceFor,
  type KeyRing,
  KeyTrouble,
  publish,
  type PublishedKeys,
  rowsOf,
  signingRow,
  verifiers,
} from "./key-ring.ts";

const DAY_SECONDS = 86_400;

export interface KeyKeeperOptions {
  readonly store: MintStore;
  readonly vault: KeyVault;
  readonly clock: Clock;
  /** A key signs for this long, then the next takes over; `undefined`: when somebody says so. */
  readonly rotationDays: number | undefined;
  /** Of keys that are made from now on; the others keep theirs. */
  readonly signingName?: SigningName | undefined;
}

/** A step that somebody asks for. */
export type KeyCommand =
  /** `seq`: only while the key set has this number, so that a repetition does nothing. */
  | { readonly do: "stage"; readonly use: KeyUse; readonly seq?: number | undefined }
  | Exclude<RotationRequest, { readonly do: "stage" }>;

export interface KeyOutcome {
  readonly key: KeyRow;
  /** False: it was as asked before. */
  readonly changed: boolean;
}

/** As whom, and by what of the events, the keys are changed. */
export interface Leading {
  readonly lead: Lead;
  readonly facts: KeyFacts;
}

export class KeyKeeper {
  readonly #options: KeyKeeperOptions;
  readonly #signingName: SigningName;
  readonly #scheduled: Policies;
  readonly #manual: Policies = policies(null);
  readonly #queue = new SerialQueue({ jobsMax: KEY_WRITES_MAX });
  /** Private keys that sign or may yet, not extractable. Others are let go of. */
  #opened: ReadonlyMap<string, SigningKey> = new Map();
  #stored: StoredKeys | undefined;
  #published: PublishedKeys | undefined;
  #verify: { readonly jwks: string; readonly keys: KeySet } | undefined;
  #ring: KeyRing | undefined;
  /** An answer was lost: what is stored is known only after a new read. */
  #doubtful = false;

  constructor(options: KeyKeeperOptions) {
    this.#options = options;
    const { rotationDays, signingName = SIGNING_NAME_DEFAULT } = options;
    this.#signingName = signingName;
    this.#scheduled = policies(rotationDays === undefined ? null : rotationDays * DAY_SECONDS);
  }

  /** `undefined` until keys were read. */
  get published(): PublishedKeys | undefined {
    return this.#published;
  }

  /** @throws KeyTrouble when there is none: a leader has one. */
  get ring(): KeyRing {
    if (this.#ring === undefined)
      throw new KeyTrouble("There are keys in the database, but none signs");
    return this.#ring;
  }

  get stored(): StoredKeys {
    return this.#stored ?? { seq: 0, keys: [] };
  }

  /** Keys that sign under another name than new ones would, until they are followed. */
  get otherwiseNamed(): readonly KeyRow[] {
    const { keys } = this.stored;
    return keys.filter(
      ({ state, publicJwk }) => state === "signing" && publicJwk.alg !== this.#signingName,
    );
  }

  /** What is in force by itself: `signForSeconds` is `null` while a sale that is on freezes it. */
  policies(facts: KeyFacts): Policies {
    return facts.frozenBy.length === 0 ? this.#scheduled : this.#manual;
  }

  /**
   * Reads what is stored; in a standby, and at the start.
   *
   * @throws KeyTrouble when the key-encryption key does not open a key that signs or may yet. What is published is
   * up to date even so.
   */
  read(): Promise<void> {
    return this.#queue.run(() => this.#read());
  }

  /**
   * A leadership begins: what is sealed with the previous key-encryption key is sealed anew, keys that are missing are
   * made, and the set gets a new number, so that it counts as newer whatever a failover lost.
   *
   * @throws KeyTrouble, LeaseLostError.
   */
  begin(leading: Leading): Promise<void> {
    return this.#queue.run(async () => {
      await this.#read();
      const draft = this.#draft(leading.facts);
      await draft.sealAnew();
      await draft.settle(this.policies(leading.facts));
      await this.#store(leading.lead, draft);
    });
  }

  /**
   * Does what is due. Cheap when nothing is.
   *
   * @throws KeyTrouble, LeaseLostError.
   */
  tick(leading: Leading): Promise<void> {
    return this.#queue.run(() =>
      this.#planned(async () => {
        const draft = this.#draft(leading.facts);
        await draft.settle(this.policies(leading.facts));
        if (draft.changed.length > 0) await this.#store(leading.lead, draft);
        else await this.#show();
      }),
    );
  }

  /**
   * One step that somebody asks for, and what it makes due: a revoked key's successor signs in the same transaction.
   *
   * @throws AppError `key-not-found`, `not-yet-safe` (with `safeFrom`), `conflict`, `version-mismatch`, `unavailable`;
   * LeaseLostError.
   */
  command(leading: Leading, command: KeyCommand, by: StepReason): Promise<KeyOutcome> {
    return this.#queue.run(() =>
      this.#planned(async () => {
        const known = command.do === "stage" ? undefined : this.#find(command.kid);
        if (known !== undefined && known.state === RESULT[command.do]) {
          return { key: known, changed: false };
        }
        const { seq } = this.stored;
        if (command.do === "stage" && (command.seq ?? seq) !== seq)
          throw problem("version-mismatch", { extensions: { version: seq } });
        const use = command.do === "stage" ? command.use : (known?.use ?? "line");
        const now = this.#options.clock.now();
        const policy = this.#manual[use];
        const action = check(rowsOf(this.stored.keys, use), command, now, policy);
        if (!action.ok) throw refused(action.refusal);
        const draft = this.#draft(leading.facts);
        const about = await draft.perform(use, action.value, by);
        await draft.settle(this.#manual);
        await this.#store(leading.lead, draft);
        return { key: this.#find(about.kid), changed: true };
      }),
    );
  }

  #find(kid: string): KeyRow {
    const row = this.stored.keys.find((key) => key.kid === kid);
    if (row === undefined) throw problem("key-not-found");
    return row;
  }

  #draft(facts: KeyFacts): KeyDraft {
    const { vault, clock } = this.#options;
    const signingName = this.#signingName;
    return new KeyDraft(this.stored, { vault, now: clock.now(), facts, signingName });
  }

  /** A plan on keys that are out of date is made once more, on those that are stored. */
  async #planned<Value>(job: () => Promise<Value>): Promise<Value> {
    if (this.#doubtful) await this.#read();
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof KeysMovedError)) throw error;
      await this.#read();
      return job();
    }
  }

  async #store(lead: Lead, draft: KeyDraft): Promise<void> {
    const { store } = this.#options;
    const { seq } = this.stored;
    const nextSeq = draft.seq;
    this.#doubtful = true;
    await store.changeKeys(lead, { seq, nextSeq, rows: draft.changed, audit: draft.audit });
    await this.#adopt({ seq: nextSeq, keys: draft.keys });
  }

  async #read(): Promise<void> {
    await this.#adopt(await this.#options.store.loadKeys());
  }

  async #adopt(stored: StoredKeys): Promise<void> {
    this.#stored = stored;
    await this.#show();
    this.#ring = await this.#open(stored.keys);
    this.#doubtful = false;
  }

  /** By the clock: an overlap ends when it does, also when nobody stores that. */
  async #show(): Promise<void> {
    const { stored } = this;
    if (stored.keys.length === 0) return;
    const published = publish(stored, this.#options.clock.now(), this.#manual);
    if (published.etag === this.#published?.etag) return;
    this.#verify = { jwks: published.jwks, keys: await verifiers(published.jwks) };
    this.#published = published;
    if (this.#ring !== undefined) this.#ring = { ...this.#ring, verify: this.#verify.keys };
  }

  async #open(keys: readonly KeyRow[]): Promise<KeyRing | undefined> {
    const { vault } = this.#options;
    const opened = new Map<string, SigningKey>();
    for (const row of keys) {
      if (row.state !== "staged" && row.state !== "signing") continue;
      const known = this.#opened.get(row.kid);
      const read =
        known === undefined
          ? await openSigningKey(row.sealed ?? "", { vault, kid: row.kid })
          : ({ ok: true, value: { signingKey: known } } as const);
      if (!read.ok) throw new KeyTrouble(adviceFor(read.refusal, row));
      opened.set(row.kid, read.value.signingKey);
    }
    this.#opened = opened;
    const signer = (use: KeyUse) => opened.get(signingRow(keys, use)?.kid ?? "");
    const [line, admission] = KEY_USES.map(signer);
    if (line === undefined || admission === undefined || this.#verify === undefined)
      return undefined;
    return { seq: this.stored.seq, signing: { line, admission }, verify: this.#verify.keys };
  }
}

/** The state in which there is nothing left to do. */
const RESULT = {
  stage: undefined,
  promote: "signing",
  retire: "retired",
  revoke: "revoked",
} as const;

function refused(refusal: RotationRefusal): Error {
  switch (refusal.reason) {
    case "unknown-key":
      return problem("key-not-found");
    case "not-yet-safe": {
      const { safeFrom } = refusal;
      return problem("not-yet-safe", {
        detail: "Ask again from safeFrom on, or force it and say why",
        extensions: { safeFrom },
      });
    }
    case "wrong-state":
      return problem("conflict", {
        detail: `A key that is ${refusal.state} has no such step`,
        extensions: { state: refusal.state },
      });
    case "too-many-keys":
      return problem("conflict", {
        detail: "As many keys of this use are published as may be: retire or revoke one, or wait",
      });
  }
}
