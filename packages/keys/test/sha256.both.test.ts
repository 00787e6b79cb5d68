import { sha256 } from "@vestibule/keys/sha256";
import fc from "fast-check";
import { expect, test } from "vitest";

test("SHA-256 agrees with the runtime's own on any input", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
      const message = new Uint8Array(bytes);
      expect(sha256(message)).toEqual(
        new Uint8Array(await crypto.subtle.digest("SHA-256", message)),
      );
    }),
  );
});

test("SHA-256 agrees with the runtime's own at every length around a block's end", async () => {
  for (let length = 0; length <= 200; length += 1) {
    const message = new Uint8Array(length).fill(length);
    expect(sha256(message), `${length} bytes`).toEqual(
      new Uint8Array(await crypto.subtle.digest("SHA-256", message)),
    );
  }
});
