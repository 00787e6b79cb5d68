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
   * Proves that both sides did the same work: a good admission reaches the origin through either in the
   * same request, and at the candidate a stranger's and a forged one do not get there.
   *
   * @param floorToken what the floor takes where the candidate takes an admission; the same when absent.
   * @throws Error when it is not so.
   */
  proveForwarding(floor: Workerd, floorToken?: (admission: string) => string): Promise<void>;
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
    proveForwarding: (floor, floorToken = (admission) => admission) =>
      proveForwarding({ edge, floor, floorToken, signer, originState }),
  };
}

async function proveForwarding(sides: {
  readonly edge: Workerd;
  readonly floor: Workerd;
  readonly floorToken: (admission: string) => string;
  readonly signer: EdgeSigner;
  readonly originState: () => Promise<OriginState>;
}): Promise<void> {
  const { edge, floor, floorToken, signer, originState } = sides;
  const [buyer, stranger] = await signer.admissions(2);
  if (buyer === undefined || stranger === undefined) throw new Error("nothing was signed");
  const enter = (through: Workerd, visitor: string, token: string): Promise<Reply> =>
    ask(through.port, {
      path: PAGE_PATH,
      headers: { host: HOST, accept: "text/html", cookie: admittedCookie(visitor, token) },
    });
  const seenAfter = async (reply: Reply, token: string): Promise<string> => {
    if (reply.body !== ORIGIN_BODY) throw new Error(`not forwarded: ${reply.status}`);
    const headers = Object.entries((await originState()).headers).map(
      ([name, value]) => `${name}: ${value === token ? "<token>" : String(value)}`,
    );
    return headers.sort().join("\n");
  };

  const candidateSaw = await seenAfter(await enter(edge, buyer.visitor, buyer.token), buyer.token);
  const { requests, headers } = await originState();
  const complete =
    headers[ADMISSION_HEADER.toLowerCase()] === buyer.token &&
    headers[VISITOR_HEADER.toLowerCase()] === buyer.visitor &&
    headers.cookie === "shop=4f9a7c12";
  if (!complete) throw new Error(`the edge forwards badly:\n${candidateSaw}`);

  const refused = [
    await enter(edge, stranger.visitor, buyer.token),
    await enter(edge, buyer.visitor, forged(buyer.token, stranger.token)),
  ];
  const letIn = refused.some(({ body }) => body === ORIGIN_BODY);
  if (letIn || (await originState()).requests !== requests) {
    throw new Error("the edge lets a bad admission through");
  }

  const token = floorToken(buyer.token);
  const floorSaw = await seenAfter(await enter(floor, buyer.visitor, token), token);
  if (floorSaw !== candidateSaw) {
    throw new Error(`not the same forwarding:\n${candidateSaw}\n\nand by the floor\n${floorSaw}`);
  }
}

/** One token's claims under another's signature. */
function forged(token: string, other: string): string {
  return token.slice(0, token.lastIndexOf(".")) + other.slice(other.lastIndexOf("."));
}
