/** What the head of a request says to us. Read once: each look into `Headers` is a call into the runtime. */

export interface Head {
  readonly headers: Headers;
  readonly cookie: string | null;
  /** Names of the `Vestibule-*` headers that the client sent, lower case. Browsers send none. */
  readonly ours: readonly string[];
}

const NONE: readonly string[] = [];

export function readHead(headers: Headers): Head {
  let ours: string[] | undefined;
  for (const name of headers.keys()) {
    if (name.startsWith("vestibule-")) (ours ??= []).push(name);
  }
  return { headers, cookie: headers.get("cookie"), ours: ours ?? NONE };
}
