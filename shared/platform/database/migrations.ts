/** Applies the plain SQL files in `migrations/`, in order, exactly once, in one transaction: all of them or none. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sql } from "./database.ts";

const MIGRATIONS_DIR = join(import.meta.dirname, "migrations");
/** Any constant: of two runners that start together one waits for it. */
const ADVISORY_LOCK = 7_263_481;

/** @returns the names of the files that were applied now */
export async function migrate(sql: Sql, directory: string = MIGRATIONS_DIR): Promise<string[]> {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  return await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${ADVISORY_LOCK})`;
    await tx`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
    const rows = await tx<{ name: string }[]>`select name from migrations`;
    const applied = new Set(rows.map((row) => row.name));
    const pending = files.filter((name) => !applied.has(name));
    for (const name of pending) {
      await tx.unsafe(await readFile(join(directory, name), "utf8"));
      await tx`insert into migrations (name) values (${name})`;
    }
    return pending;
  });
}
