/** What this package has to say, as a port: one event in plain words and its fields. Never a credential. */
export type StoreLog = (event: string, fields: Readonly<Record<string, unknown>>) => void;
