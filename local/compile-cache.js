/**
 * Opens the cache of compiled code, which all processes and threads of the runtime share, keyed by the content of each
 * file. Imported before anything in TypeScript: with a warm cache the compiler that takes types away is never loaded.
 * Where the folder cannot be written, Node does without.
 */
import { enableCompileCache } from "node:module";
import { join } from "node:path";

enableCompileCache(join(import.meta.dirname, "..", "node_modules", ".cache", "strandline"));
