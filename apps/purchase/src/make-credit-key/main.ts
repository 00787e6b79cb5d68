/**
 * `node apps/purchase/src/make-credit-key/main.ts credit-key.json > credit-keys.json` makes the pair for credits:
 * the private JWK goes into a new file that its owner alone may read (`VESTIBULE_CREDIT_KEY_FILE` of the
 * purchase API), the public key set to standard output (`VESTIBULE_CREDIT_KEYS` of the mint).
 */
import { writeFile } from "node:fs/promises";
import { generateKeyPair } from "@vestibule/keys/key-pair";
import { jwksDocument } from "@vestibule/keys/public-key";

const [path] = process.argv.slice(2);
try {
  if (path === undefined) throw new Error("Say which new file the private key goes into");
  const { privateJwk, publicJwk } = await generateKeyPair();
  // A file that is there already is never replaced: it may hold the key in use.
  await writeFile(path, `${JSON.stringify(privateJwk)}\n`, { mode: 0o600, flag: "wx" });
  process.stdout.write(`${JSON.stringify(jwksDocument([publicJwk]))}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
