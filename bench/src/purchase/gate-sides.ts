/** The purchase API twice, with the inventory gate and without, side by side over one PostgreSQL and one Valkey. */
import type { Shopper } from "../load/shopper-messages.ts";
import { Shoppers } from "../load/shoppers-handle.ts";
import type { Bench } from "../row.ts";
import { startValkey } from "../valkey.ts";
import { openBooks } from "./books.ts";
import { type CpuWatch, cpuWatch } from "./cpu-watch.ts";
import { type PurchaseApi, startDatabases, startPurchaseApi } from "./purchase-world.ts";
import { type Admission, openSales } from "./sales.ts";

export type GateSetting = "on" | "off";
export const SETTINGS: readonly GateSetting[] = ["on", "off"];

export interface GateSide {
  readonly api: PurchaseApi;
  readonly books: ReturnType<typeof openBooks>;
  /** A crowd of its own, with lanes to the instances in turn. */
  readonly crowd: Shoppers;
  readonly cpu: CpuWatch;
  /** Puts `seats` of a new sale on sale, and lets every instance learn of it. */
  open(event: string, seats: number): Promise<void>;
}

export interface GateSides extends Readonly<Record<GateSetting, GateSide>> {
  readonly admissions: (event: string, count: number) => Promise<readonly Admission[]>;
  /** Of the PostgreSQL server. */
  readonly serverUrl: string;
}

export async function startGateSides(
  bench: Bench,
  { events, instances, lanes }: { events: readonly string[]; instances: number; lanes: number },
): Promise<GateSides> {
  const valkey = await startValkey(bench);
  const databases = await startDatabases(bench);
  const sales = await openSales(bench, events);
  const start = async (setting: GateSetting): Promise<GateSide> => {
    const databaseUrl = await databases.create(databaseOf(setting));
    const name = `gate ${setting}`;
    const gate = setting === "on";
    const api = await startPurchaseApi(bench, {
      name,
      databaseUrl,
      valkey,
      sales,
      gate,
      instances,
    });
    const books = openBooks(databaseUrl);
    bench.processes.finally(() => books.close());
    const crowd = Shoppers.start(bench.processes);
    await crowd.connect(
      api.instances.map(({ port }) => port),
      lanes,
    );
    return {
      api,
      books,
      crowd,
      cpu: cpuWatch({
        [instances === 1 ? "purchase API" : `${instances} purchase APIs`]: api.instances.map(
          ({ pid }) => pid,
        ),
        PostgreSQL: [databases.pid],
        Valkey: [valkey.pid()],
        crowd: [crowd.pid],
        "this process (mint)": [process.pid],
      }),
      open: async (event, seats) => {
        await api.putOnSale(event, seats);
        // Each instance asks the mint about a sale when somebody first wants something of it.
        const strangers = await sales.admissions(event, instances);
        await crowd.rush({ event, sku: "nothing", shoppers: strangers });
      },
    };
  };
  return {
    on: await start("on"),
    off: await start("off"),
    admissions: (event, count) => sales.admissions(event, count),
    serverUrl: databases.serverUrl,
  };
}

export function databaseOf(setting: GateSetting): string {
  return `purchase_gate_${setting}`;
}

/** `count` users with `each` admissions, every one of another visitor: people wait on several devices. */
export function onSeveralDevices(admissions: readonly Admission[], each: number): Shopper[] {
  return admissions.map(({ visitor, token }, index) => ({
    visitor,
    token,
    user: `user-${Math.floor(index / each)}`,
  }));
}
