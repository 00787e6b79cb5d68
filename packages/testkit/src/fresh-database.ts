import { randomBytes } from "node:crypto";

import postgres from "postgres";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/**
 * A new, empty database on the run's PostgreSQL; the server takes it along when it ends.
 *
 * @returns its connection URL.
 */
export async function freshDatabase(): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const url = new URL(inject("postgresUrl"));
  const admin = postgres(url.href, { max: 1, onnotice: () => {} });
  try {
    await admin`create database ${admin(name)}`;
  } finally {
    await admin.end();
  }
  url.pathname = `/${name}`;
  return url.href;
}
