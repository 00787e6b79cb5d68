/** `PutReport` over the runtime's own `fetch`. */
import type { PutReport } from "./supply-tell.ts";

export const putReport: PutReport = async ({ url, token, body, deadlineMs }) => {
  try {
    const answer = await fetch(url, {
      method: "PUT",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(deadlineMs),
    });
    // Only the status counts; an endless body is not waited for.
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return undefined;
  }
};
