/** Answers of a moment ago: however many ask at once, one look is enough. */
import type { Sleep } from "@vestibule/feed/ports";

export interface ShortMemory<Value> {
  /** What `look` says, or said less than `keepMs` ago. Failures are not kept; whoever waits for one shares it. */
  ask(key: string, look: () => Promise<Value>): Promise<Value>;
  forget(key: string): void;
}

/** @param options.entriesMax With so many different keys kept, others are looked at without being kept. */
export function createShortMemory<Value>({
  keepMs,
  entriesMax,
  sleep,
}: {
  keepMs: number;
  entriesMax: number;
  sleep: Sleep;
}): ShortMemory<Value> {
  const kept = new Map<string, Promise<Value>>();

  const lookAndKeep = (key: string, look: () => Promise<Value>): Promise<Value> => {
    const answer = look();
    const end = (): void => {
      if (kept.get(key) === answer) kept.delete(key);
    };
    kept.set(key, answer);
    answer.then(() => sleep(keepMs)).then(end, end);
    return answer;
  };

  return {
    ask: (key, look) => {
      const known = kept.get(key);
      if (known !== undefined) return known;
      return kept.size < entriesMax ? lookAndKeep(key, look) : look();
    },
    forget: (key) => void kept.delete(key),
  };
}
