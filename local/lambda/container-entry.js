/**
 * First file of a container's thread. It is no TypeScript, so that the compile cache is open before anything needs the
 * compiler that takes types away: with a warm cache no thread ever loads it.
 */
import { enableCompileCache } from "node:module";
import { workerData } from "node:worker_threads";

if (workerData.compileCache !== undefined) enableCompileCache(workerData.compileCache);
await import("./container-worker.ts");
