/** Tokens made outside of our own signer: right, wrong and absurd ones. Keys are those of RFC 8032 section 7.1. */
import { encodeBase64url } from "@vestibule/keys/base64url";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { jwksDocument, type PublicJwk } from "@vestibule/keys/public-key";
import { importPrivateJwk, type SigningKey } from "@vestibule/keys/signing-key";
import { epochMs, epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { hashVisitor } from "@vestibule/token/visitor";

export interface TestKey {
  readonly signingKey: SigningKey;
  readonly publicJwk: PublicJwk;
}

async function testKey(d: string, x: string): Promise<TestKey> {
  const imported = await importPrivateJwk({ kty: "OKP", crv: "Ed25519", d, x });
  if (!imported.ok) throw new Error(imported.refusal);
  return imported.value;
}

/** The published private half of the first key. */
export const privateSeedOne = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";

/** Test 1, 2 and 3 of RFC 8032 section 7.1: in the key set, in the key set, not in it. */
export const keyOne: TestKey = await testKey(
  privateSeedOne,
  "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
);
export const keyTwo: TestKey = await testKey(
  "TM0Imyj_ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U-4pvs",
  "PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw",
);
export const strangerKey: TestKey = await testKey(
  "xaqN9D-fg3vtt0QvMdy3sWbThTUHbwlLhc46LgtEWPc",
  "_FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU",
);

/** Test SHA(abc) of the same section: the one whose public half has its sign bit set. */
export const oddKey: TestKey = await testKey(
  "gz_mJAkje51i7HdYdSCRHpp1nOwdGXVbfakBuW3KPUI",
  "7Bcrk61eVjv0kyxw4SRQNMNUZ-8u_U1k6_gZaDRn4r8",
);

export const JWKS: { readonly keys: readonly PublicJwk[] } = jwksDocument([
  keyOne.publicJwk,
  keyTwo.publicJwk,
]);

export async function keySetOf(json: unknown): Promise<KeySet> {
  const read = await parseJwks(json);
  if (!read.ok) throw new Error(JSON.stringify(read.refusal));
  return read.value;
}

export const ISSUER = "https://mint.example";
export const EVENT = "spring-sale";
export const VISITOR = "dmlzaXRvci1zZWNyZXQtb2YtMzItYnl0ZXMtaGVyZSE";
export const OTHER_VISITOR = "b3RoZXItdmlzaXRvci1zZWNyZXQtMzItYnl0ZXMtb2s";
export const SUB: string = hashVisitor(VISITOR);
/** 2026-01-01T00:00:00Z: the second in which the slot of all fixtures opens. */
export const NBF = epochSeconds(1_767_225_600);
export const LIFETIME_SECONDS = 600;
export const SKEW_SECONDS = 5;
export const NUMBER = ticketNumber(4_711);
/** A minute into the slot. */
export const NOW = epochMs((NBF + 60) * 1000);

export type Header = Readonly<Record<string, unknown>>;

/** `alg`, `typ` and `kid` as the mint writes them. */
export function headerOf(typ: string, key: TestKey = keyOne): Header {
  return { alg: "Ed25519", typ, kid: key.signingKey.kid };
}

/** One part: an object as JSON, text and bytes as they are. */
export function part(content: object | string | Uint8Array<ArrayBuffer>): string {
  if (content instanceof Uint8Array) return encodeBase64url(content);
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return encodeBase64url(new TextEncoder().encode(text));
}

/** The signature part for two given parts. */
export async function signatureOf(
  input: string,
  key: TestKey = keyOne,
): Promise<Uint8Array<ArrayBuffer>> {
  const data = new TextEncoder().encode(input);
  return new Uint8Array(await crypto.subtle.sign("Ed25519", key.signingKey.key as never, data));
}

/** The same bytes in base64url, spelled otherwise. For a text that has spare bits. */
export function spareBits(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1) ?? "A") + 1];
}

/** A compact JWS of any header and payload, genuinely signed. */
export async function forge(
  header: object | string | Uint8Array<ArrayBuffer>,
  payload: object | string | Uint8Array<ArrayBuffer>,
  key: TestKey = keyOne,
): Promise<string> {
  return signParts(part(header), part(payload), key);
}

/** The same of two parts as they are, however they are spelled. */
export async function signParts(
  header: string,
  payload: string,
  key: TestKey = keyOne,
): Promise<string> {
  const input = `${header}.${payload}`;
  return `${input}.${encodeBase64url(await signatureOf(input, key))}`;
}

/** A MAC instead of a signature, as whoever mixes up algorithms would make it. */
export async function forgeMac(
  header: object,
  payload: object,
  { secret, hash }: { readonly secret: Uint8Array<ArrayBuffer>; readonly hash: string },
): Promise<string> {
  const input = `${part(header)}.${part(payload)}`;
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash }, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(input));
  return `${input}.${encodeBase64url(new Uint8Array(mac))}`;
}
