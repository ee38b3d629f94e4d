/** Makes the folder of the function that makes the database's user: its code, and the statement beside it. */
import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { NODE_MODULE } from "./bundle.ts";

const SOURCE = join(import.meta.dirname, "..", "tasks", "database-user");

/** @returns the folder */
export async function buildDatabaseUser(directory: string): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await build({
    entryPoints: [join(SOURCE, "handler.ts")],
    outfile: join(directory, "index.mjs"),
    ...NODE_MODULE,
  });
  await cp(join(SOURCE, "create-user.sql"), join(directory, "create-user.sql"));
  return directory;
}
