/**
 * Floor of `mint-join`: bare `node:http`, JSON in, one Ed25519 signature, JSON out; the bodies as
 * large as the mint's. It keeps no line, checks nothing, and stores nothing.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The claims that the signature covers, in characters of base64url; chosen so that tickets are of one length. */
export interface JoinFloorOptions {
  readonly event: string;
  /** Everything of a ticket before its signature and its dot. */
  readonly signingInputChars: number;
}

/** Longer than the pauses between the rounds of one side. */
const KEEP_ALIVE_MS = 65_000;

const encoder = new TextEncoder();

async function serve({ event, signingInputChars }: JoinFloorOptions): Promise<number> {
  const { privateKey } = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  let last = 0;

  const join = async (body: string): Promise<string> => {
    const { visitor } = JSON.parse(body) as { visitor: string };
    last += 1;
    const number = last;
    const issuedAt = Date.now();
    const claims = Buffer.from(JSON.stringify({ event, number, visitor, issuedAt }));
    const input = claims.toString("base64url").padEnd(signingInputChars, ".");
    const signature = await crypto.subtle.sign("Ed25519", privateKey, encoder.encode(input));
    const ticket = `${input}.${Buffer.from(signature).toString("base64url")}`;
    return JSON.stringify({ event, number, issuedAt, ticket });
  };

  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (text: string) => (body += text));
    request.on("end", () => {
      void join(body).then((answer) => {
        response.writeHead(201, {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(answer),
        });
        response.end(answer);
      });
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

process.on("message", (options: JoinFloorOptions) => {
  void serve(options).then((port) => process.send?.({ port }));
});
process.on("disconnect", () => process.exit(0));
