/**
 * Ends what a killed bench leaves behind. A child of ours notices by itself that the bench is gone;
 * workerd, the mint and PostgreSQL do not: this process does it for them.
 */
export type ToWatchdog = { readonly watch: number } | { readonly forget: number };

if (process.send !== undefined && import.meta.main) {
  const watched = new Set<number>();
  process.on("message", (order: ToWatchdog) => {
    if ("watch" in order) watched.add(order.watch);
    else watched.delete(order.forget);
  });
  process.on("disconnect", () => {
    for (const pid of watched) {
      try {
        // PostgreSQL takes it for a fast shutdown, the others for Ctrl-C.
        process.kill(pid, "SIGINT");
      } catch {
        // it ended in the meantime
      }
    }
    process.exit(0);
  });
}
