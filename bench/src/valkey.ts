/** A Valkey or Redis of this run's own, which ends with the run however the run ends. */
import { type LocalValkey, startLocalValkey } from "@vestibule/testkit/valkey-server";

import type { Bench } from "./row.ts";

/** @throws Error when neither is on PATH, or it does not start. */
export async function startValkey(bench: Bench): Promise<LocalValkey> {
  const server = await startLocalValkey();
  let gone = (): void => {};
  const leash = (): void => {
    gone();
    const { promise, resolve } = Promise.withResolvers<void>();
    gone = resolve;
    bench.processes.leash(server.pid(), promise);
  };
  leash();
  bench.processes.finally(() => server.stop().finally(() => gone()));
  return {
    ...server,
    restart: async () => {
      await server.restart();
      leash();
    },
  };
}
