import { buildCommand } from "@stricli/core";
import type { KeysView } from "@vestibule/contracts/keys-api";
import { parseJwks } from "@vestibule/keys/key-set";
import { isKeyUse, KEY_USES, type KeyUse } from "@vestibule/keys/public-key";
import { action, COMMON_FLAGS } from "../action.ts";
import { CliFailure } from "../failure.ts";
import { type CommonFlags, Session } from "../session.ts";

interface Flags extends CommonFlags {
  readonly format: "jwks" | "pem";
  readonly use?: KeyUse | undefined;
}

export const keysExport = buildCommand({
  docs: {
    brief: "Print the public keys",
    fullDescription: [
      "Changes nothing, and prints nothing that is secret. As a JWKS: what an edge takes as JWKS and the purchase",
      "API as VESTIBULE_JWKS; it is public, and needs no token. As PEM: one block (SPKI, RFC 8410) for each key, under a",
      "comment with kid, use and state.",
      "",
      "EXAMPLES",
      "  vestibule keys export-public > jwks.json",
      "  vestibule keys export-public --format pem --use admission",
    ].join("\n"),
  },
  parameters: {
    flags: {
      ...COMMON_FLAGS,
      format: { kind: "enum", values: ["jwks", "pem"], brief: "How", default: "jwks" },
      use: { kind: "enum", values: KEY_USES, brief: "Only keys of this use", optional: true },
    },
  },
  func: action(async ({ platform }, flags: Flags) => {
    const { format, use } = flags;
    const session = new Session(platform, flags, { isAdmin: format === "pem" });
    const { body: text } = await session.api.jwks();
    const { set, entries } = await readSet(text);
    const wanted = entries.filter((entry) => use === undefined || entry.use === use);
    if (wanted.length === 0) throw new CliFailure(`No key of use ${use} is published.`);
    if (format === "jwks") {
      const json = JSON.stringify({ ...set, keys: wanted.map(({ jwk }) => jwk) });
      platform.out.write(`${json}\n`);
      return;
    }
    const view = await session.look();
    const blocks = wanted.map((entry) => pem(entry, stateOf(view, entry.kid)));
    if (flags.json)
      session.print({ keys: blocks.map(({ comment, block }) => ({ comment, pem: block })) });
    else platform.out.write(blocks.map(({ comment, block }) => `${comment}\n${block}`).join("\n"));
  }),
});

interface Entry {
  readonly kid: string;
  readonly x: string;
  /** `undefined`: of both uses. */
  readonly use: KeyUse | undefined;
  readonly jwk: unknown;
}

/** Only a set that our own verifiers take is handed on. */
async function readSet(
  text: string,
): Promise<{ readonly set: object; readonly entries: readonly Entry[] }> {
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    throw new CliFailure("The mint's key set is no JSON.");
  }
  const read = await parseJwks(set);
  if (!read.ok) throw new CliFailure(`The mint's key set is refused: ${read.refusal.reason}.`);
  const { keys } = set as { keys: readonly Readonly<Record<string, unknown>>[] };
  const entries = keys.flatMap((jwk) => {
    const { kid, x, vst_use: use } = jwk;
    if (typeof kid !== "string" || typeof x !== "string" || !read.value.has(kid)) return [];
    return [{ kid, x, use: isKeyUse(use) ? use : undefined, jwk }];
  });
  return { set: set as object, entries };
}

function stateOf(view: KeysView, kid: string): string {
  return view.keys.find((key) => key.kid === kid)?.state ?? "unknown";
}

/** SubjectPublicKeyInfo of an Ed25519 key: a fixed head (RFC 8410 section 10.1), and the 32 bytes. */
const SPKI_HEAD = Buffer.from("302a300506032b6570032100", "hex");

function pem({ kid, x, use }: Entry, state: string): { comment: string; block: string } {
  const der = Buffer.concat([SPKI_HEAD, Buffer.from(x, "base64url")]);
  const comment = `# kid ${kid}, use ${use ?? "line and admission"}, ${state}`;
  const block = `-----BEGIN PUBLIC KEY-----\n${der.toString("base64")}\n-----END PUBLIC KEY-----\n`;
  return { comment, block };
}
