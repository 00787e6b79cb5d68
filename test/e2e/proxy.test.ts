/**
 * The edge as a proxy: the deployed Worker in workerd between sockets, compared byte by byte and header by header with
 * talking to the origin directly. What is carried in no way, or otherwise, stands in docs/operating.md.
 */
import { afterAll, beforeAll } from "vitest";

import { answers } from "./proxy/answers.ts";
import { deadlines } from "./proxy/deadlines.ts";
import { failures } from "./proxy/failures.ts";
import { passes } from "./proxy/passes.ts";
import { requests } from "./proxy/requests.ts";
import { streams } from "./proxy/streams.ts";
import { upgrades } from "./proxy/upgrades.ts";
import { ProxyWorld } from "./support/proxy-world.ts";

let world: ProxyWorld;
beforeAll(async () => {
  world = await ProxyWorld.start();
});
afterAll(() => world?.stop());

requests(() => world);
answers(() => world);
streams(() => world);
deadlines(() => world);
failures(() => world);
upgrades(() => world);
passes(() => world);
