/** The real Worker in workerd, with a stub mint that signs and an origin that answers. */
import { join } from "node:path";

import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";

import { edgeBundle } from "./edge-bundle.ts";
import { createEdgeSigner, type EdgeSigner } from "./edge-signer.ts";
import { admittedCookie, EVENT, HOST, ISSUER, PAGE_PATH } from "./edge-world.ts";
import { ORIGIN_BODY, type OriginState } from "./floors/origin.ts";
import { ask, type Reply, until } from "./http.ts";
import type { Bench } from "./row.ts";
import { type StubMint, startStubMint } from "./stub-mint.ts";
import { startWorkerd, type Workerd } from "./workerd.ts";

const READY_TIMEOUT_MS = 15_000;

export interface EdgeCandidate {
  readonly edge: Workerd;
  readonly originUrl: string;
  readonly signer: EdgeSigner;
  readonly stubMint: StubMint;
  /**
   * Proves that the candidate did the work that the floor did: a good admission reaches the origin as
   * it should, a stranger's and a forged one do not.
   *
   * @throws Error when it does not.
   */
  proveForwarding(): Promise<void>;
}

export async function startEdge(bench: Bench): Promise<EdgeCandidate> {
  const script = await edgeBundle(bench);
  bench.progress("starting the edge");
  const signer = await createEdgeSigner();
  const stubMint = await startStubMint(bench, signer);
  const origin = bench.processes.node("origin", join(import.meta.dirname, "floors/origin.ts"));
  const originState = async (): Promise<OriginState> => (await origin.ask({})) as OriginState;
  const originUrl = `http://127.0.0.1:${(await originState()).port}`;
  const edge = await startWorkerd(bench.processes, bench.scratch, {
    name: "candidate",
    script,
    vars: {
      MINT_URLS: stubMint.url,
      ORIGIN_URL: originUrl,
      PURCHASE_URL: stubMint.url,
      ISSUER,
      JWKS: signer.jwks,
      SKEW_SECONDS: "5",
      LOCATION: "bench",
    },
  });
  await until(edge.port, {
    path: `/_vestibule/events/${EVENT}/drip`,
    headers: { host: HOST },
    status: 200,
    timeoutMs: READY_TIMEOUT_MS,
  });
  return {
    edge,
    originUrl,
    signer,
    stubMint,
    proveForwarding: () => proveForwarding(edge, signer, originState),
  };
}

async function proveForwarding(
  edge: Workerd,
  signer: EdgeSigner,
  originState: () => Promise<OriginState>,
): Promise<void> {
  const [buyer, stranger] = await signer.admissions(2);
  if (buyer === undefined || stranger === undefined) throw new Error("nothing was signed");
  const enter = (visitor: string, token: string): Promise<Reply> =>
    ask(edge.port, {
      path: PAGE_PATH,
      headers: { host: HOST, accept: "text/html", cookie: admittedCookie(visitor, token) },
    });

  const before = await originState();
  const entered = await enter(buyer.visitor, buyer.token);
  const after = await originState();
  const forwarded =
    entered.body === ORIGIN_BODY &&
    after.requests === before.requests + 1 &&
    after.headers[ADMISSION_HEADER.toLowerCase()] === buyer.token &&
    after.headers[VISITOR_HEADER.toLowerCase()] === buyer.visitor &&
    after.headers.cookie === "shop=4f9a7c12";
  if (!forwarded) {
    throw new Error(`the edge forwards badly: ${entered.status}, ${JSON.stringify(after.headers)}`);
  }
  const refused = [
    await enter(stranger.visitor, buyer.token),
    await enter(buyer.visitor, forged(buyer.token, stranger.token)),
  ];
  if (
    refused.some(({ body }) => body === ORIGIN_BODY) ||
    (await originState()).requests !== after.requests
  ) {
    throw new Error("the edge lets a bad admission through");
  }
}

/** One token's claims under another's signature. */
function forged(token: string, other: string): string {
  return token.slice(0, token.lastIndexOf(".")) + other.slice(other.lastIndexOf("."));
}
