import type { LinePorts } from "@vestibule/client/line-client";

const DEADLINE_MS = 10_000;

export const linePorts: LinePorts = {
  fetch: (url, request) =>
    fetch(url, { ...(request as RequestInit), signal: AbortSignal.timeout(DEADLINE_MS) }),
  now: () => Date.now(),
};
