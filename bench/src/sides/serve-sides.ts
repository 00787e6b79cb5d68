/** The child's half of `measureSides`: candidate and floor in one process, each with a database of its own on one server. */

/** The one of this number, from 1 on; each is asked for once. */
export type Deed = (number: number) => Promise<void>;

export type Side = "candidate" | "floor";

export type ToSides =
  | { readonly type: "start"; readonly urls: Readonly<Record<Side, string>> }
  | { readonly type: "fire"; readonly side: Side; readonly count: number };

export type FromSides =
  | { readonly type: "started" }
  | { readonly type: "fired"; readonly elapsedMs: number; readonly samples: readonly never[] }
  | { readonly type: "failed"; readonly message: string };

export type Sides = Readonly<Record<Side, (databaseUrl: string) => Promise<Deed>>> & {
  /** Deeds under way at a time. */
  readonly underWay: number;
};

export function serveSides({ underWay, ...start }: Sides): void {
  const deeds: { candidate?: Deed; floor?: Deed } = {};
  const last = { candidate: 0, floor: 0 };

  async function fire(side: Side, count: number): Promise<FromSides> {
    const deed = deeds[side];
    if (deed === undefined) throw new Error("not started");
    let left = count;
    const worker = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        last[side] += 1;
        await deed(last[side]);
      }
    };
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: underWay }, worker));
    return { type: "fired", elapsedMs: performance.now() - startedAt, samples: [] };
  }

  async function obey(order: ToSides): Promise<FromSides> {
    if (order.type === "fire") return fire(order.side, order.count);
    deeds.candidate = await start.candidate(order.urls.candidate);
    deeds.floor = await start.floor(order.urls.floor);
    return { type: "started" };
  }

  process.on("message", (order: ToSides) => {
    void obey(order)
      .catch((error: unknown): FromSides => ({ type: "failed", message: String(error) }))
      .then((answer) => process.send?.(answer));
  });
  process.on("disconnect", () => process.exit(0));
}
