/** A certificate for tests, made here: Node signs, but writes no X.509 (RFC 5280). */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

const DAY_MS = 86_400_000;

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length =
    body.length < 128
      ? Buffer.from([body.length])
      : Buffer.from([0x82, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const utcTime = (at: number): Buffer => {
  const text = new Date(at)
    .toISOString()
    .replaceAll(/[-:T]|\.\d+/g, "")
    .slice(2);
  return der(0x17, Buffer.from(text));
};
const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString("base64").replaceAll(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;

/** Good from yesterday to tomorrow, for one DNS name, signed by itself. */
export function selfSigned(name: string): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
  const commonName = sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name)))));
  const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), der(0x04, value));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    commonName,
    sequence(utcTime(Date.now() - DAY_MS), utcTime(Date.now() + DAY_MS)),
    commonName,
    publicKey.export({ format: "der", type: "spki" }),
    der(
      0xa3,
      sequence(
        extension("551d13", sequence(der(0x01, Buffer.from([0xff])))), // basicConstraints: CA
        extension("551d11", sequence(der(0x82, Buffer.from(name)))), // subjectAltName: DNS
      ),
    ),
  );
  const signature = sign("sha256", toBeSigned, privateKey);
  const bits = der(0x03, Buffer.from([0]), signature);
  return {
    cert: pem(sequence(toBeSigned, ecdsaWithSha256, bits)),
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  };
}
