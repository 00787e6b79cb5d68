/** Who seals private keys for the key store, and opens them again. A KMS would be one more implementation. */
import { type Result, refuse } from "@vestibule/kernel/result";
import { decodeProtectedHeader } from "jose/decode/protected_header";

import { type KeyEncryptionKey, type SealRefusal, open, seal } from "./seal.ts";

export interface KeyVault {
  seal(secret: object): Promise<string>;
  /** No refusal holds anything of the content. */
  open(sealed: string): Promise<Result<unknown, SealRefusal>>;
  /** False: sealed with a key that is on its way out, so that it should be sealed anew. */
  isCurrent(sealed: string): boolean;
}

/**
 * Seals with `kek`, opens what `kek` or `previous` sealed: one key-encryption key takes over from the other without
 * a moment in which the store cannot be read.
 */
export function kekVault({
  kek,
  previous,
}: {
  readonly kek: KeyEncryptionKey;
  readonly previous?: KeyEncryptionKey | undefined;
}): KeyVault {
  return {
    seal: (secret) => seal(secret, kek),
    async open(sealed) {
      const opened = await open(sealed, kek);
      const isOther = !opened.ok && opened.refusal === "other-kek";
      if (!isOther) return opened;
      return previous === undefined ? refuse("other-kek") : open(sealed, previous);
    },
    isCurrent(sealed) {
      try {
        return decodeProtectedHeader(sealed).kid === kek.kid;
      } catch {
        return false;
      }
    },
  };
}
