import type { Row } from "./row.ts";
import { dripAccuracy } from "./rows/drip-accuracy.ts";
import { dripStep } from "./rows/drip-step.ts";
import { edgeForward } from "./rows/edge-forward.ts";
import { edgePage } from "./rows/edge-page.ts";
import { edgePoll } from "./rows/edge-poll.ts";
import { edgeVerifyAgain } from "./rows/edge-verify-again.ts";
import { edgeVerifyFirst } from "./rows/edge-verify-first.ts";
import { failoverStall } from "./rows/failover-stall.ts";
import { gateLarge } from "./rows/gate-large.ts";
import { gateSmall } from "./rows/gate-small.ts";
import { jwksRefresh } from "./rows/jwks-refresh.ts";
import { keysLookup } from "./rows/keys-lookup.ts";
import { limiterFloor } from "./rows/limiter-floor.ts";
import { limiterPeer } from "./rows/limiter-peer.ts";
import { mintCalls } from "./rows/mint-calls.ts";
import { mintClaims } from "./rows/mint-claims.ts";
import { mintJoin } from "./rows/mint-join.ts";
import { mintMemory } from "./rows/mint-memory.ts";
import { mintPremint } from "./rows/mint-premint.ts";
import { pageBytes } from "./rows/page-bytes.ts";
import { pagePhone } from "./rows/page-phone.ts";
import { purchaseWin } from "./rows/purchase-win.ts";
import { valkeyKilled } from "./rows/valkey-killed.ts";

/** In the order in which they run. */
export const ROWS: readonly Row[] = [
  edgePoll,
  edgeVerifyFirst,
  edgeVerifyAgain,
  edgeForward,
  edgePage,
  mintCalls,
  keysLookup,
  jwksRefresh,
  mintJoin,
  mintPremint,
  mintClaims,
  mintMemory,
  dripStep,
  dripAccuracy,
  failoverStall,
  pageBytes,
  pagePhone,
  gateSmall,
  gateLarge,
  limiterFloor,
  limiterPeer,
  purchaseWin,
  valkeyKilled,
];
