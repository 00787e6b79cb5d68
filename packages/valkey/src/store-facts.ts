/** What a server says of itself in `INFO`, as far as it matters here. */
export interface StoreFacts {
  /** Takes no writes. */
  readonly isReplica: boolean;
  readonly isLoading: boolean;
  readonly isClusterNode: boolean;
  /** `maxmemory-policy`; undefined when the server does not say. */
  readonly evictionPolicy: string | undefined;
}

/** Undefined when the text is not a reply to `INFO`. */
export function readFacts(info: unknown): StoreFacts | undefined {
  if (typeof info !== "string") return undefined;
  const facts = new Map<string, string>();
  for (const line of info.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0 && !line.startsWith("#")) facts.set(line.slice(0, colon), line.slice(colon + 1));
  }
  const role = facts.get("role");
  if (role === undefined) return undefined;
  const policy = facts.get("maxmemory_policy");
  return {
    // "replica" is not said today by either server; an unknown word is no reason to stay away.
    isReplica: role === "slave" || role === "replica",
    isLoading: (facts.get("loading") ?? "0") !== "0",
    isClusterNode: facts.get("cluster_enabled") === "1",
    // Words of a server go to the log: only what looks like a policy.
    evictionPolicy: policy !== undefined && /^[a-z-]{1,32}$/.test(policy) ? policy : undefined,
  };
}
