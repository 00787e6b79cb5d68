/** A real Valkey or Redis for tests: started before them, stopped after them. */
import { afterAll, beforeAll, beforeEach } from "vitest";

import {
  findValkey,
  type LocalValkey,
  type LocalValkeyOptions,
  NO_VALKEY,
  startLocalValkey,
} from "./valkey-server.ts";

/**
 * A server for the tests of a file, or of the `describe` that it is called in. Where none is installed they
 * are skipped, and say why.
 */
export function useLocalValkey(options: LocalValkeyOptions = {}): () => LocalValkey {
  let server: LocalValkey | undefined;
  const isInstalled = findValkey() !== undefined;
  beforeAll(async () => {
    if (isInstalled) server = await startLocalValkey(options);
  });
  beforeEach((context) => {
    if (!isInstalled) context.skip(NO_VALKEY);
  });
  afterAll(async () => server?.stop());
  return () => {
    if (server === undefined) throw new Error(NO_VALKEY);
    return server;
  };
}
