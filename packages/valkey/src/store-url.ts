/** Where the store is, out of `VALKEY_URL`. */

export interface StoreNode {
  readonly host: string;
  readonly port: number;
}

export interface StoreAddress {
  /** One server, by TCP or by its Unix socket, or nodes to learn a cluster from. */
  readonly place:
    | { readonly kind: "server"; readonly node: StoreNode }
    | { readonly kind: "socket"; readonly path: string }
    | { readonly kind: "cluster"; readonly nodes: readonly StoreNode[] };
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** 0, and nothing else, in a cluster. */
  readonly database: number;
  /** For people: hosts and ports or the path, and never a credential. */
  readonly label: string;
}

const PORT_DEFAULT = 6379;
const NODES_MAX = 100;
const DATABASE_MAX = 1_000;

/**
 * Reads `redis://`, `valkey://` (TCP), `rediss://`, `valkeys://` (TLS), `unix://[user:password@]/path[?db=n]` or a
 * bare `/path`. Several addresses, separated by commas, are nodes of one cluster and must agree in
 * everything but host and port. A comma in a password is written %2C.
 *
 * @throws TypeError when it cannot be understood. Its text never repeats the input, which holds a password.
 */
export function parseStoreUrl(text: string): StoreAddress {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length > NODES_MAX) throw new TypeError(`at most ${NODES_MAX} addresses`);
  const [first, ...others] = parts.map(parseOne);
  if (first === undefined) throw new TypeError("there is no address");
  return others.length === 0 ? first : clusterOf(first, others);
}

function clusterOf(first: StoreAddress, others: readonly StoreAddress[]): StoreAddress {
  const nodes = [first, ...others].map((address) => {
    if (address.place.kind !== "server") throw new TypeError("a cluster's nodes have hosts");
    if (address.database !== 0) throw new TypeError("a cluster has database 0 only");
    const agrees =
      address.tls === first.tls &&
      address.username === first.username &&
      address.password === first.password;
    if (!agrees) throw new TypeError("a cluster's nodes share scheme, user and password");
    return address.place.node;
  });
  return { ...first, place: { kind: "cluster", nodes }, label: nodes.map(labelOf).join(",") };
}

function parseOne(text: string): StoreAddress {
  if (text.includes("#")) throw new TypeError("an address has no #: write it %23 in a password");
  if (text.startsWith("/") || text.startsWith("unix:")) return parseSocket(text);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) {
    throw new TypeError(
      "not an address: write redis://host:port, rediss:// for TLS, or unix:///path",
    );
  }
  const credentials = { username: decoded(url.username), password: decoded(url.password) };
  if (!["redis:", "rediss:", "valkey:", "valkeys:"].includes(url.protocol)) {
    throw new TypeError("the scheme is redis, rediss, valkey, valkeys or unix");
  }
  if (url.search !== "") throw new TypeError("an address has no options (?)");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (host === "") throw new TypeError("an address has a host");
  const node = { host, port: url.port === "" ? PORT_DEFAULT : Number(url.port) };
  if (node.port === 0) throw new TypeError("a port is 1 to 65535");
  return {
    place: { kind: "server", node },
    tls: url.protocol === "rediss:" || url.protocol === "valkeys:",
    ...credentials,
    database: databaseOf(url.pathname.replace(/^\//, "")),
    label: labelOf(node),
  };
}

/** Not a URL by the book, which has no user without a host. */
function parseSocket(text: string): StoreAddress {
  const pattern =
    /^(?:unix:\/\/(?:(?<user>[^:@/?#]*)(?::(?<secret>[^:@/?#]*))?@)?)?(?<path>\/[^?#]+)(?:\?db=(?<db>[^&#]*))?$/;
  const { user = "", secret = "", path = "", db = "" } = pattern.exec(text)?.groups ?? {};
  if (path === "")
    throw new TypeError("a socket is unix:///path, unix://user:password@/path?db=n or /path");
  const place = { kind: "socket" as const, path: decodedText(path) };
  return {
    place,
    tls: false,
    username: decoded(user),
    password: decoded(secret),
    database: databaseOf(db),
    label: place.path,
  };
}

function labelOf({ host, port }: StoreNode): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function databaseOf(text: string): number {
  if (text === "") return 0;
  const database = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(database <= DATABASE_MAX)) throw new TypeError("a database is a whole number");
  return database;
}

function decoded(text: string): string | undefined {
  return text === "" ? undefined : decodedText(text);
}

/** @throws TypeError when it is not percent-encoded text. */
function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError("an address has a % that is not percent-encoding: write it %25");
  }
}
