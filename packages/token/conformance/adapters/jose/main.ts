/**
 * npm `jose`, as its README uses it: a local key set, and `jwtVerify` with issuer, audience and tolerance.
 * Nothing more on purpose: the report shows what is missing then.
 */
import { createInterface } from "node:readline";

import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";

import type { Question } from "../../pack.ts";

async function check({ kind, token, jwks, options }: Question): Promise<void> {
  const keys = createLocalJWKSet(jwks as JSONWebKeySet);
  await jwtVerify(token, keys, {
    issuer: options.issuer,
    ...(kind === "manifest" ? {} : { audience: options.event }),
    clockTolerance: options.skewSeconds,
    currentDate: new Date(options.nowMs),
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line) as Question;
  const { id } = question;
  const answer = await check(question).then(
    () => ({ id, ok: true }),
    (error: unknown) => ({ id, ok: false, reason: (error as Error).name }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
