#!/usr/bin/env node
/**
 * Starts the command line with the Node that the project pins. Plain JavaScript, since an older Node that is first on PATH
 * cannot read TypeScript.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NEEDED = 24;
const folder = dirname(fileURLToPath(import.meta.url));

if (Number(process.versions.node.split(".")[0]) >= NEEDED) {
  await import("../local/compile-cache.js");
  await import("./main.ts");
} else {
  const node = join(folder, "../node_modules/node/bin", process.platform === "win32" ? "node.exe" : "node");
  if (!existsSync(node)) {
    console.error(
      `strandline needs Node ${NEEDED}; this is ${process.version}. Run \`npm ci\` in ${dirname(folder)} first.`,
    );
    process.exit(2);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  // Ctrl-C reaches the child by itself: it is in the same foreground group
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`strandline could not start ${node}: ${error.message}`);
    process.exit(2);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 0)));
}
