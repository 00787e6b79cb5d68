/** The part of the web platform that the guard uses, as types of its own (it sees no platform's declarations). */
import type { WebResponse } from "./types.ts";

interface Init {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

declare const Response: new (body: string, init: Init) => WebResponse;
declare const URL: new (text: string) => {
  readonly protocol: string;
  readonly href: string;
  readonly search: string;
  readonly hash: string;
  readonly username: string;
  readonly password: string;
};

export function textResponse(body: string, init: Init): WebResponse {
  return new Response(body, init);
}

/** A base address without its trailing slash; `undefined` when it is none, or names a secret or a query. */
export function httpBase(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const url = new URL(text);
    const plain = `${url.search}${url.hash}${url.username}${url.password}` === "";
    const http = url.protocol === "https:" || url.protocol === "http:";
    return plain && http ? url.href.replace(/\/+$/, "") : undefined;
  } catch {
    return undefined;
  }
}
