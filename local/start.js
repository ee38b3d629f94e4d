/**
 * First file of `npm start`. It is no TypeScript: the runtime is 30 MB smaller where the compiler of types is not
 * loaded.
 */
import "./compile-cache.js";

/**
 * How many arenas glibc's malloc keeps: it reads this once, when a program begins. By default each thread gets one of
 * its own and holds on to what compiling a page of code once took there; with two the runtime is 30 to 60 MB smaller.
 */
const ARENAS = "MALLOC_ARENA_MAX";

if (process.platform === "linux" && process.env[ARENAS] === undefined) {
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  // the same process, begun anew: it keeps its id, its streams and whoever waits for it
  process.execve?.(process.execPath, args, { ...process.env, [ARENAS]: "2" });
}
await import("./start.ts");
