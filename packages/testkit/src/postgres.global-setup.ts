import type { TestProject } from "vitest/node";

import { startLocalPostgres } from "./local-postgres.ts";

/** One server for the whole run of a project; files get databases of their own from it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startLocalPostgres();
  project.provide("postgresUrl", server.url());
  return () => server.stop();
}
