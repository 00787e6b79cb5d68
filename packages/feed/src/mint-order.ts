import type { EpochMs } from "@vestibule/kernel/units";
import { MINT_COOL_MS } from "./limits.ts";

/** In which order to try the mints: as configured, those that failed a moment ago last. */
export interface MintOrder {
  urls(now: EpochMs): readonly string[];
  failed(url: string, now: EpochMs): void;
  worked(url: string): void;
}

/** `urls` without a trailing slash, the preferred one first. */
export function createMintOrder(urls: readonly string[]): MintOrder {
  const failedAt = new Map<string, EpochMs>();
  const cool = (url: string, now: EpochMs) => {
    const at = failedAt.get(url);
    return at !== undefined && now - at < MINT_COOL_MS && now >= at;
  };
  return {
    urls(now) {
      if (failedAt.size === 0) return urls;
      return [...urls.filter((url) => !cool(url, now)), ...urls.filter((url) => cool(url, now))];
    },
    failed(url, now) {
      failedAt.set(url, now);
    },
    worked(url) {
      failedAt.delete(url);
    },
  };
}
