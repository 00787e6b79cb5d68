/** `pnpm --filter @vestibule/guard build`: what is published, in `dist/`. */
import { buildGuard } from "./build-guard.ts";

const { bytes, declarations } = await buildGuard();
process.stdout.write(`dist: ${bytes} bytes of code, ${declarations} declaration files\n`);
