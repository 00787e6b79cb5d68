/** What this package has to say. */
export type StoreEvent =
  /** The connection stands and the server may be used. Fields: `store`, `mode`. */
  | "store-connected"
  /** It does not, or cannot be made; said once for each new `reason`. Fields: `store`, `reason`. */
  | "store-away"
  /** `maxmemory-policy` is not `noeviction`: limits and stock may be forgotten. Fields: `store`, `policy`. */
  | "store-may-evict"
  /** The server is a replica and takes no writes: not used until it is promoted. Fields: `store`. */
  | "store-is-a-replica"
  /** It does not let us look: whether it evicts is not known. Fields: `store`, `reason`. */
  | "store-safety-unknown";

/** The port it says it through. Fields never hold a credential. */
export type StoreLog = (event: StoreEvent, fields: Readonly<Record<string, unknown>>) => void;
