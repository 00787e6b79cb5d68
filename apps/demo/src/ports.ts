/** Ports: who is on which, whether they are free, and both loopback addresses for each. */
import { once } from "node:events";
import { type AddressInfo, type Server, connect, createServer } from "node:net";

import { StartFailure, codeOf } from "./failure.ts";
import { PORTS_SPAN } from "./options.ts";

export interface Ports {
  readonly edge: number;
  readonly mint: number;
  readonly purchase: number;
  readonly shop: number;
}

const LOOPBACKS = ["127.0.0.1", "::1"] as const;
const BASE_STEP = 100;
const BASES_TRIED_MAX = 100;

export function portsFrom(base: number): Ports {
  return { edge: base, mint: base + 1, purchase: base + 2, shop: base + 4 };
}

/**
 * @param commandWith the command that starts with another base, to copy.
 * @throws StartFailure that names the first taken port, and a base whose ports are free.
 */
export async function checkPorts(
  ports: Ports,
  commandWith: (base: number | "P") => string,
): Promise<void> {
  for (const [name, port] of Object.entries(ports) as [string, number][]) {
    const refused = await refusal(port);
    if (refused === undefined) continue;
    if (refused === "EACCES") {
      throw new StartFailure(
        `Port ${port} (${name}) may not be used by this user. Choose ports above 1023 with --port-base P.`,
      );
    }
    const base = await freeBase(ports.edge);
    throw new StartFailure(
      `Port ${port} (${name}) is taken by another program. Stop that one, or choose other ports: ${commandWith(base ?? "P")}`,
    );
  }
}

/** A free port of the loopback outside of the span that begins at `base`: those are for the parts with an address. */
export async function freePort(base: number): Promise<number> {
  for (;;) {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, "close");
    // Five ports of thousands: the next try, or the one after it, is outside.
    if (port < base || port > base + PORTS_SPAN) return port;
  }
}

/**
 * `localhost` is ::1 first on many machines, and the parts listen on 127.0.0.1: passes
 * connections on. A machine without IPv6 needs nothing.
 */
export class Relay {
  readonly #servers: Server[] = [];

  async open(port: number): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (from) => {
      const to = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      from.on("error", () => to.destroy());
      to.on("error", () => from.destroy());
      from.pipe(to).pipe(from);
    });
    try {
      server.listen({ port, host: "::1" });
      await once(server, "listening");
      server.on("error", () => {});
      server.unref();
      this.#servers.push(server);
    } catch {
      server.close();
    }
  }

  close(): void {
    for (const server of this.#servers) server.close();
  }
}

async function freeBase(taken: number): Promise<number | undefined> {
  for (let step = 1; step <= BASES_TRIED_MAX; step += 1) {
    const base = taken + step * BASE_STEP;
    if (base + PORTS_SPAN > 65_535) return undefined;
    const refusals = await Promise.all(Object.values(portsFrom(base)).map((port) => refusal(port)));
    if (refusals.every((code) => code === undefined)) return base;
  }
  return undefined;
}

/** Why the port cannot be had on one of the loopback addresses; undefined when it can. */
async function refusal(port: number): Promise<string | undefined> {
  for (const host of LOOPBACKS) {
    const probe = createServer();
    try {
      probe.listen({ port, host, exclusive: true });
      await once(probe, "listening");
    } catch (error) {
      const code = codeOf(error);
      if (code === "EADDRINUSE" || code === "EACCES") return code;
    } finally {
      probe.close();
    }
  }
  return undefined;
}
