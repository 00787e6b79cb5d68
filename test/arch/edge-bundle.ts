/**
 * Law 6, the edge cannot mint, read off the bundle that a deploy would ship: the sources that went
 * into it (from its source map) and its text.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Minified, uncompressed: what an isolate has to parse before its first answer. */
// Of it some 12 KiB are friction, figures and circuits, 10 KiB looks, 8 KiB passes: none of it could be fetched later.
const CODE_BYTES_MAX = 176 * 1024;
/** The page's texts in 17 languages, which the bundler writes in ASCII: strings, read past and not compiled. */
const TEXT_BYTES_MAX = 216 * 1024;
export const EDGE_BYTES_MAX: number = CODE_BYTES_MAX + TEXT_BYTES_MAX;

const SOURCES_FORBIDDEN = [
  { pattern: /packages\/token\/src\/sign/, why: "signs tokens" },
  {
    pattern: /\/jose\/.*\b(sign|jws_sign|encrypt|jwe_encrypt|generate_\w+)\.js$/,
    why: "signs or makes keys",
  },
  { pattern: /packages\/(db|service|testkit)\//, why: "is for Node" },
  { pattern: /node_modules\/(postgres|ioredis|pg|@hono\/node-server)\//, why: "is for Node" },
  { pattern: /node_modules\/(parse5|saxes)\//, why: "checks looks, which is the mint's to do" },
  { pattern: /node_modules\/(unenv|@cloudflare\/unenv-preset)\//, why: "stands in for Node" },
];

const TEXT_FORBIDDEN = [
  { pattern: /\bsubtle\s*\.\s*sign\b|\bsubtle\[["']sign["']\]/, why: "signs" },
  { pattern: /\bgenerateKey\b/, why: "makes keys" },
  { pattern: /\b(SignJWT|CompactSign|FlattenedSign|GeneralSign)\b/, why: "signs" },
  { pattern: /["'`]node:/, why: "imports Node" },
  { pattern: /postgres(ql)?:\/\//, why: "speaks to PostgreSQL" },
  { pattern: /\bioredis\b/, why: "speaks to Valkey" },
];

export interface BundleReport {
  readonly findings: readonly string[];
  readonly bytes: number;
  readonly sources: number;
}

/** @param directory where the build put `*.js` and the source map of each. */
export function inspectBundle(directory: string): BundleReport {
  const findings: string[] = [];
  const scripts = globSync("**/*.js", { cwd: directory });
  let bytes = 0;
  let sources = 0;
  for (const script of scripts) {
    const text = readFileSync(join(directory, script), "utf8");
    bytes += Buffer.byteLength(text);
    for (const { pattern, why } of TEXT_FORBIDDEN) {
      const found = pattern.exec(text);
      if (found) findings.push(`${script} holds \`${found[0]}\`, which ${why}`);
    }
    const map = JSON.parse(readFileSync(join(directory, `${script}.map`), "utf8")) as {
      sources: string[];
    };
    sources += map.sources.length;
    for (const source of map.sources) {
      for (const { pattern, why } of SOURCES_FORBIDDEN) {
        if (pattern.test(source)) findings.push(`${script} contains ${source}, which ${why}`);
      }
    }
  }
  if (scripts.length === 0 || sources === 0)
    findings.push("nothing was built: nothing was checked");
  if (bytes > EDGE_BYTES_MAX) findings.push(`${bytes} bytes are more than ${EDGE_BYTES_MAX}`);
  return { findings, bytes, sources };
}
