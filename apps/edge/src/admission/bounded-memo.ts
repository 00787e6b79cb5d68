/** Values by text, bounded in entries and characters; the oldest go first. */
export interface BoundedMemo<Value> {
  get(key: string): Value | undefined;
  /** @param chars of everything that the entry keeps, its key included */
  put(key: string, value: Value, chars: number): void;
  delete(key: string): void;
}

export function createBoundedMemo<Value>(bounds: {
  readonly entriesMax: number;
  readonly charsMax: number;
}): BoundedMemo<Value> {
  const entries = new Map<string, { readonly value: Value; readonly chars: number }>();
  let total = 0;
  const drop = (key: string) => {
    total -= entries.get(key)?.chars ?? 0;
    entries.delete(key);
  };
  return {
    get: (key) => entries.get(key)?.value,
    put(key, value, chars) {
      drop(key);
      entries.set(key, { value, chars });
      total += chars;
      for (const oldest of entries.keys()) {
        if (entries.size <= bounds.entriesMax && total <= bounds.charsMax) break;
        drop(oldest);
      }
    },
    delete: drop,
  };
}
