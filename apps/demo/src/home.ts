/** The data directory: what is in it, who may read it, and whether it is ours at all. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { generateKeyPair } from "@vestibule/keys/key-pair";

import { StartFailure, codeOf, diskFull, explainFileError } from "./failure.ts";

/** Raised when a newer launcher cannot go on with what an older one wrote. */
const FORMAT = 1;
/** An empty PostgreSQL with its write-ahead log takes about 60 MB. */
const FREE_BYTES_MIN = 150 * 1024 * 1024;
const NAMES = {
  mark: "vestibule.json",
  secrets: "secrets.json",
  adminToken: "admin-token",
  sale: "sale.json",
  lock: "running.json",
} as const;
/** Everything that we ever put there: what `--reset` removes, and nothing else. */
const OURS = [
  ...Object.values(NAMES),
  "logs",
  "edge",
  "postgres",
  "postgres.new",
  "native",
  "native.new",
] as const;

/** Made at the first start, kept in a file that only its owner reads, never printed. */
export interface Secrets {
  readonly databasePassword: string;
  readonly adminToken: string;
  /** 256 bits, base64url: encrypts the mint's keys at rest. */
  readonly kek: string;
  /** The shop's own calls at the purchase API: confirming holds, naming users. */
  readonly shopToken: string;
  /** With which the purchase API tells the mint whether anything is left. */
  readonly supplyToken: string;
  /** Of `GET /metrics` at the mint. */
  readonly metricsToken: string;
  /** Hashes the identities in the limiter's keys. */
  readonly identitySecret: string;
  /** Of the Valkey or Redis that is started with the sale. */
  readonly storePassword: string;
  /** Signs credits for faults of ours: a private Ed25519 JWK (RFC 8037) as text. */
  readonly creditKey: string;
}

/** What the launcher must remember of the sale; everything else is asked from the services. */
export interface StoredSale {
  readonly event: string;
  /** 1, 2, 3 …: a sale that is over is followed by the next one. */
  readonly count: number;
  readonly portBase: number;
  readonly lifetimeSeconds: number;
  readonly horizonSeconds: number;
  /** Of the crowd. Absent in what older starts wrote. */
  readonly fans?: number;
}

export interface Home {
  readonly directory: string;
  readonly logs: string;
  readonly lock: string;
  readonly secretsFile: string;
  /** The admin token alone: what `VESTIBULE_ADMIN_TOKEN_FILE` takes. */
  readonly adminTokenFile: string;
  readonly edge: string;
}

export function homeAt(directory: string): Home {
  return {
    directory,
    logs: join(directory, "logs"),
    lock: join(directory, NAMES.lock),
    secretsFile: join(directory, NAMES.secrets),
    adminTokenFile: join(directory, NAMES.adminToken),
    edge: join(directory, "edge"),
  };
}

/** @throws StartFailure when it cannot be made. */
export function makeHome(home: Home): void {
  try {
    mkdirSync(home.directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explainFileError(error, home.directory);
  }
}

/**
 * Makes the directory, or recognizes one of an earlier start.
 *
 * @throws StartFailure when it holds something else, is of another version, or cannot be written.
 */
export function openHome(home: Home): { readonly isNew: boolean } {
  const { directory } = home;
  makeHome(home);
  try {
    const entries = readdirSync(directory);
    const mark = readJson(join(directory, NAMES.mark)) as { format?: unknown } | undefined;
    if (mark === undefined && entries.some((name) => !(OURS as readonly string[]).includes(name))) {
      throw new StartFailure(
        `${directory} holds other things than data of ours. Choose an empty or a new directory with --data DIR.`,
      );
    }
    if (mark !== undefined && mark.format !== FORMAT) {
      throw new StartFailure(
        `The data in ${directory} were written by another version. Choose another place with --data DIR, or forget them with --reset.`,
      );
    }
    // PostgreSQL may run as another user: that one may pass through, and read nothing.
    if (process.getuid?.() === 0) chmodSync(directory, 0o711);
    mkdirSync(home.logs, { recursive: true, mode: 0o700 });
    if (mark === undefined) writeJson(join(directory, NAMES.mark), { format: FORMAT });
    return { isNew: mark === undefined };
  } catch (error) {
    throw explainFileError(error, directory);
  }
}

/** @throws StartFailure when a new database would not fit. */
export function checkSpace(directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < FREE_BYTES_MIN) throw diskFull(directory);
}

/** Removes what earlier starts left, and only that. The lock stays: it is held. */
export function emptyHome(home: Home): void {
  try {
    for (const name of OURS) {
      if (name !== NAMES.lock) {
        rmSync(join(home.directory, name), { recursive: true, force: true });
      }
    }
  } catch (error) {
    throw explainFileError(error, home.directory);
  }
}

/** True when `--reset` may touch the directory: it bears our mark, whatever its version, or is empty or absent. */
export function mayBeEmptied(home: Home): boolean {
  try {
    const entries = readdirSync(home.directory);
    return entries.includes(NAMES.mark) || entries.every((name) => OURS.includes(name as never));
  } catch (error) {
    return codeOf(error) === "ENOENT";
  }
}

/** What is missing is made: an older start knew fewer of them, and its data go on. */
export async function readSecrets(home: Home): Promise<Secrets> {
  const stored = (readJson(home.secretsFile) ?? {}) as Partial<Record<keyof Secrets, unknown>>;
  const missing: string[] = [];
  const secret = async (
    name: keyof Secrets,
    make: () => string | Promise<string> = randomSecret,
  ): Promise<string> => {
    const value = stored[name];
    if (typeof value === "string" && value !== "") return value;
    missing.push(name);
    return make();
  };
  const secrets: Secrets = {
    databasePassword: await secret("databasePassword"),
    adminToken: await secret("adminToken"),
    kek: await secret("kek"),
    shopToken: await secret("shopToken"),
    supplyToken: await secret("supplyToken"),
    metricsToken: await secret("metricsToken"),
    identitySecret: await secret("identitySecret"),
    storePassword: await secret("storePassword"),
    creditKey: await secret("creditKey", async () =>
      JSON.stringify((await generateKeyPair()).privateJwk),
    ),
  };
  if (missing.length > 0) writeJson(home.secretsFile, secrets);
  writeText(home.adminTokenFile, `${secrets.adminToken}\n`);
  return secrets;
}

/** 256 bits, base64url: what `VESTIBULE_KEK` takes, and more than any token needs. */
function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

export function readSale(home: Home): StoredSale | undefined {
  const stored = readJson(join(home.directory, NAMES.sale)) as StoredSale | undefined;
  return typeof stored?.event === "string" ? stored : undefined;
}

export function writeSale(home: Home, sale: StoredSale): void {
  writeJson(join(home.directory, NAMES.sale), sale);
}

export function writeJson(path: string, value: unknown): void {
  writeText(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Readers see the whole file or none, and nobody else reads it. */
function writeText(path: string, text: string): void {
  const draft = `${path}.${process.pid}.draft`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw explainFileError(error, path);
  }
}

/** Undefined when there is no such file, or not one of whole JSON. */
export function readJson(path: string): unknown {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
