/**
 * What `pnpm vestibule` runs. Plain JavaScript, because it must be read by any Node: when the install
 * scripts did not run there is no Node 24, and the host's would stumble over the first type.
 */
const NODE_MAJOR_MIN = 24;
const INSTALL =
  'Run "npx -y pnpm@12 install --force", and let the install scripts of the packages listed under allowBuilds run (no ignore-scripts).';

if (Number(/\d+/.exec(process.version)?.[0]) < NODE_MAJOR_MIN) {
  refuse(
    `The install is not complete: Node ${NODE_MAJOR_MIN} comes with it, and this is ${process.version}. ${INSTALL}`,
  );
}
try {
  await import("./src/main.ts");
} catch (error) {
  if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
  refuse(`The install is not complete: ${error.message.split(" imported from ")[0]}. ${INSTALL}`);
}

function refuse(line) {
  console.error(line);
  process.exit(1);
}
