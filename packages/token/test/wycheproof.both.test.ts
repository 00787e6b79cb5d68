/**
 * Project Wycheproof's Ed25519 set through our own key import and `subtle.verify`, in each runtime. The set
 * lies beside the repository; vite inlines it, since workerd has no file system.
 */
import { decodePublicKey, keyIdOf } from "@vestibule/keys/public-key";
import { parseJwks } from "@vestibule/keys/key-set";
import { subtle } from "@vestibule/keys/webcrypto";
import { describe, expect, test } from "vitest";

interface Wycheproof {
  readonly numberOfTests: number;
  readonly testGroups: readonly {
    readonly publicKeyJwk: { readonly x: string };
    readonly tests: readonly {
      readonly tcId: number;
      readonly comment: string;
      readonly msg: string;
      readonly sig: string;
      readonly result: "valid" | "invalid";
    }[];
  }[];
}

declare global {
  interface ImportMeta {
    glob(pattern: string, options: { eager: true; import: "default" }): Record<string, unknown>;
  }
}

const found = import.meta.glob("../../../../shared/vectors/wycheproof-ed25519.json", {
  eager: true,
  import: "default",
});
const set = Object.values(found)[0] as Wycheproof | undefined;

const fromHex = (hex: string) =>
  Uint8Array.from(hex.match(/../gu) ?? [], (byte) => Number.parseInt(byte, 16));

const groups = set?.testGroups ?? [];
const ABSENT =
  "ABSENT, NOT TRIED: ../shared/vectors/wycheproof-ed25519.json, beside the repository";
// Whoever runs the tests must see that this was not tried.
if (set === undefined) console.warn(`WARNING: Wycheproof's Ed25519 set is ${ABSENT}`);

describe.skipIf(set === undefined)(
  `TV-13: Wycheproof's Ed25519 set${set ? "" : ` (${ABSENT})`}`,
  () => {
    test("is complete", () => {
      expect(groups.flatMap(({ tests }) => tests)).toHaveLength(set?.numberOfTests ?? 0);
    });

    test.each(groups.map((group, index) => [index, group] as const))(
      "gets the right answers (group %i)",
      async (_index, { publicKeyJwk, tests }) => {
        const point = decodePublicKey(publicKeyJwk.x);
        if (!point.ok) throw new Error(`key refused: ${point.refusal}`);
        const kid = await keyIdOf(point.value);
        const keys = await parseJwks({
          keys: [{ kty: "OKP", crv: "Ed25519", x: publicKeyJwk.x, kid }],
        });
        const key = keys.ok ? keys.value.get(kid)?.key : undefined;
        if (key === undefined) throw new Error("key refused");
        for (const { tcId, comment, msg, sig, result } of tests) {
          const signature = fromHex(sig);
          // The verifier looks at 64 bytes and at no others.
          const genuine =
            signature.length === 64 &&
            (await subtle.verify("Ed25519", key, signature, fromHex(msg)));
          expect(genuine, `${tcId}: ${comment}`).toBe(result === "valid");
        }
      },
    );
  },
);
