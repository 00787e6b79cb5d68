import type { Ready } from "../start-system.ts";
import { send } from "./app.ts";
import { claimsOf } from "./token-parts.ts";

/** What every location of a running system is told alike: its mint, by a literal address, its issuer and its keys. */
export async function edgeVars({ mint }: Ready): Promise<{
  readonly MINT_URLS: string;
  readonly ISSUER: string;
  readonly JWKS: string;
}> {
  const jwks = await send(`${mint}/.well-known/jwks.json`);
  const manifest = await send(`${mint}/v1/manifest`);
  return {
    MINT_URLS: literal(mint),
    ISSUER: String(claimsOf(manifest.text)["iss"]),
    JWKS: jwks.text,
  };
}

/** workerd looks no name up. */
export function literal(url: string): string {
  return url.replace("localhost", "127.0.0.1");
}
