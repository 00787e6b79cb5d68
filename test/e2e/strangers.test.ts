/** What strangers must not reach: through a cache in front, from another site, from a frame, by what is written. */
import { afterAll, beforeAll } from "vitest";

import { browsers } from "./strangers/browsers.ts";
import { cache } from "./strangers/cache.ts";
import { forgery } from "./strangers/forgery.ts";
import { poison } from "./strangers/poison.ts";
import { type StrangersWorld, startWorld } from "./strangers/world.ts";

let world: StrangersWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

cache(() => world);
poison(() => world);
forgery(() => world);
browsers(() => world);
