/** Whether `work` settled within `ms`. Never rejects. */
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([settled(work), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function settled(work: Promise<unknown>): Promise<boolean> {
  await Promise.allSettled([work]);
  return true;
}

/** Calls `work` every `ms` until the returned function is called. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
}
