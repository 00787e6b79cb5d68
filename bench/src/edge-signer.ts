/** The mint's signing, for the edge rows: admissions in bulk, and the statements of the stub mint. */
import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
