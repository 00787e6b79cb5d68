/** The stored keys while a change of them is put together: every step of `keys/rotation`, and its line in the audit log. */
import { assert } from "@vestibule/kernel/assert";
import type { EpochMs } from "@vestibule/kernel/units";
import { KEY_USES, type KeyUse, type SigningName } from "@vestibule/keys/public-key";
import { apply, type KeyRecord, plan, type RotationAction } from "@vestibule/keys/rotation";
import { generateSigningKey } from "@vestibule/keys/signing-key";
import type { KeyVault } from "@vestibule/keys/vault";
import type { AuditEntry, KeyRow, StoredKeys } from "../store/store.ts";
import { type KeyFacts, type Policies, signedUntil } from "./key-policy.ts";
import { rowsOf, standIn } from "./key-ring.ts";

/** Who lets a step happen, and why. */
export interface StepReason {
  readonly actor: string;
  readonly reason?: string | undefined;
  readonly force?: boolean | undefined;
}

/** What the mint does by itself. */
const BY_ITSELF: StepReason = { actor: "mint" };
/** The only keys that it revokes by itself: staged ones, which never signed. */
const OUTDATED: StepReason = {
  ...BY_ITSELF,
  reason: "staged under another name than VESTIBULE_SIGNING_NAME, and a successor is known",
};

export class KeyDraft {
  readonly #rows: Map<string, KeyRow>;
  readonly #changed = new Set<string>();
  readonly audit: AuditEntry[] = [];
  readonly #vault: KeyVault;
  readonly #now: EpochMs;
  readonly #facts: KeyFacts;
  readonly #signingName: SigningName;
  /** Number of the set that holds what is made here. */
  readonly seq: number;

  constructor(
    stored: StoredKeys,
    {
      vault,
      now,
      facts,
      signingName,
    }: { vault: KeyVault; now: EpochMs; facts: KeyFacts; signingName: SigningName },
  ) {
    // A database that lost its last commits counts on from a later moment than the ones it lost.
    this.seq = Math.max(stored.seq + 1, now);
    this.#rows = new Map(stored.keys.map((key) => [key.kid, key]));
    this.#vault = vault;
    this.#now = now;
    this.#facts = facts;
    this.#signingName = signingName;
  }

  get keys(): readonly KeyRow[] {
    return [...this.#rows.values()];
  }

  /** Rows that differ from what is stored. */
  get changed(): readonly KeyRow[] {
    return this.keys.filter(({ kid }) => this.#changed.has(kid));
  }

  /** All that is due, of both uses. */
  async settle(policies: Policies): Promise<void> {
    this.#extend();
    for (const use of KEY_USES) {
      const stood = use === "admission" && standIn(this.keys) !== undefined;
      for (const action of plan(this.#records(use), this.#now, policies[use], stood)) {
        await this.perform(use, action, action.do === "revoke" ? OUTDATED : BY_ITSELF);
      }
    }
  }

  /** @returns the key that the action is about. */
  async perform(use: KeyUse, action: RotationAction, by: StepReason = BY_ITSELF): Promise<KeyRow> {
    const made = action.do === "stage" ? await this.#make(use) : undefined;
    if (made !== undefined) this.#rows.set(made.kid, made);
    const before = rowsOf(this.keys, use).filter((row) => row !== made);
    const replaced = action.do === "promote" ? action.replaces : undefined;
    const old = replaced === undefined ? undefined : this.#rows.get(replaced);
    const after = apply(before, action, {
      now: this.#now,
      ...(made === undefined ? {} : { newKid: made.kid, seq: this.seq }),
      ...(old === undefined ? {} : { signedUntil: signedUntil(old, this.#now, this.#facts) }),
    });
    for (const record of after) {
      const row = this.#rows.get(record.kid);
      assert(row !== undefined, "a step makes no key of its own");
      if (row !== made && row.state === record.state) continue;
      const maySign = record.state === "staged" || record.state === "signing";
      this.#put({ ...row, ...record, sealed: maySign ? row.sealed : undefined });
    }
    const kid = action.do === "stage" ? made?.kid : action.kid;
    const about = this.#rows.get(kid ?? "");
    assert(about !== undefined, "a step is about a key");
    this.#note(ACTION[action.do], about, {
      ...(replaced === undefined ? {} : { replaces: replaced }),
      by,
    });
    return about;
  }

  /** What was sealed with a key-encryption key on its way out is sealed anew. */
  async sealAnew(): Promise<void> {
    for (const row of this.keys) {
      const { sealed } = row;
      if (sealed === undefined || this.#vault.isCurrent(sealed)) continue;
      const opened = await this.#vault.open(sealed);
      // Whoever uses the key says what is wrong with it.
      if (!opened.ok) continue;
      this.#put({ ...row, sealed: await this.#vault.seal(opened.value as object) });
      this.#note("key-seal", row, { by: BY_ITSELF });
    }
  }

  #records(use: KeyUse): readonly KeyRecord[] {
    return rowsOf(this.keys, use).map((row) => ({
      ...row,
      isOutdated: row.publicJwk.alg !== this.#signingName,
    }));
  }

  /** Ends of events that were moved keep the keys of their tickets for longer. */
  #extend(): void {
    for (const row of this.keys) {
      if (row.state !== "retiring" || row.use !== "line") continue;
      const until = signedUntil(row, row.since, this.#facts);
      if (until > (row.signedUntil ?? 0)) this.#put({ ...row, signedUntil: until });
    }
  }

  async #make(use: KeyUse): Promise<KeyRow> {
    const { publicJwk, sealed } = await generateSigningKey(this.#vault, this.#signingName);
    const { kid } = publicJwk;
    const now = this.#now;
    return {
      ...{ kid, use, state: "staged", since: now, createdAt: now, sealed },
      publicJwk: { ...publicJwk, vst_use: use },
    };
  }

  #put(row: KeyRow): void {
    this.#rows.set(row.kid, row);
    this.#changed.add(row.kid);
  }

  #note(
    action: string,
    { kid, use, state }: KeyRow,
    { by, ...more }: { by: StepReason; replaces?: string },
  ): void {
    const { actor, reason, force } = by;
    this.audit.push({
      actor,
      action,
      detail: {
        ...{ kid, use, state, ...more },
        ...(force === true ? { force } : {}),
        ...(reason === undefined ? {} : { reason }),
      },
    });
  }
}

const ACTION = {
  stage: "key-stage",
  promote: "key-activate",
  retire: "key-retire",
  revoke: "key-revoke",
} as const;
