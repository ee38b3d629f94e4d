/** Applies the plain SQL files in `migrations/`, in order, exactly once, in one transaction: all of them or none. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sql, Transaction } from "./database.ts";

const MIGRATIONS_DIR = join(import.meta.dirname, "migrations");
/** Any constant: of two runners that start together one waits for it. */
const ADVISORY_LOCK = 7_263_481;

/** @returns the names of the files that were applied now */
export async function migrate(sql: Sql, directory: string = MIGRATIONS_DIR): Promise<string[]> {
  return await sql.begin(async (tx) => {
    await lockSchema(tx);
    return await applyMigrations(tx, await migrationFiles(directory), directory);
  });
}

/** Names of the files, in their order. */
export async function migrationFiles(directory: string = MIGRATIONS_DIR): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
}

/** Until the transaction ends, nobody else changes the schema. */
export async function lockSchema(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${ADVISORY_LOCK})`;
}

/**
 * @param files names, in their order
 * @returns those that were applied now
 */
export async function applyMigrations(
  tx: Transaction,
  files: readonly string[],
  directory: string = MIGRATIONS_DIR,
): Promise<string[]> {
  await tx`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
  const rows = await tx<{ name: string }[]>`select name from migrations`;
  const applied = new Set(rows.map((row) => row.name));
  const pending = files.filter((name) => !applied.has(name));
  for (const name of pending) {
    await tx.unsafe(await readFile(join(directory, name), "utf8"));
    await tx`insert into migrations (name) values (${name})`;
  }
  return pending;
}
