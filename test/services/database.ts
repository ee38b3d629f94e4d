/** A database of a test's own in the shared server: one that an earlier test is done with, emptied, or a new one. */
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { inject, onTestFinished } from "vitest";
import { connectDatabase, type Sql } from "../../shared/platform/database/database.ts";

export interface TestDatabase extends AsyncDisposable {
  sql: Sql;
  url: string;
  /** Ends every connection to the database and leaves it to the next test. */
  drop(): Promise<void>;
  /** Ends every connection to the database, which is gone then. */
  destroy(): Promise<void>;
}

/** What an admin connection does where no test asks for a while, so that it keeps no process. */
const IDLE_S = 5;

let admin: postgres.Sql | undefined;

/**
 * A migrated database without other rows than each installation has. Inside a test it goes when that test ends; in
 * `beforeAll` call `drop()` in `afterAll` (or use `await using`). Whoever changes its schema changes it back.
 *
 * @example
 * const { sql, url } = await testDatabase();
 */
export async function testDatabase({ poolSize = 4 }: { poolSize?: number } = {}): Promise<TestDatabase> {
  const template = new URL(inject("postgresTemplateUrl"));
  admin ??= postgres(Object.assign(new URL(template), { pathname: "/postgres" }).href, {
    max: 1,
    idle_timeout: IDLE_S,
    onnotice: () => {},
  });
  const name = (await takeSpare(admin)) ?? (await copyTemplate(admin));
  const url = Object.assign(new URL(template), { pathname: `/${name}` }).href;
  const sql = connectDatabase({ url, poolSize });
  await empty(sql);
  let dropped = false;
  const endWith = (end: (sql: postgres.Sql, name: string) => Promise<unknown>) => async () => {
    if (dropped) return;
    dropped = true;
    await sql.end({ timeout: 1 });
    await end(admin as postgres.Sql, name);
  };
  const drop = endWith(leave);
  const destroy = endWith((session) => session`drop database ${session(name)} with (force)`);
  whenTestEnds(drop);
  return { sql, url, drop, destroy, [Symbol.asyncDispose]: drop };
}

async function takeSpare(sql: postgres.Sql): Promise<string | undefined> {
  const [spare] = await sql<{ name: string }[]>`
    delete from spare_databases where name = (select name from spare_databases limit 1 for update skip locked)
    returning name`;
  return spare?.name;
}

async function copyTemplate(sql: postgres.Sql): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await sql.reserve().then(async (session) => {
    // copies of one template are made one at a time; Postgres refuses rather than waits
    await session`select pg_advisory_lock(1)`;
    try {
      await session`create database ${session(name)} template template`;
    } finally {
      await session`select pg_advisory_unlock(1)`;
      session.release();
    }
  });
  return name;
}

/** Work of the test that is still under way ends with its connections, as if the database were gone. */
async function leave(sql: postgres.Sql, name: string): Promise<void> {
  await sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${name}`;
  await sql`insert into spare_databases values (${name})`;
}

/** Without a trigger or a foreign key that looks at each row. The statements are one transaction. */
async function empty(sql: Sql): Promise<void> {
  await sql.unsafe(`
    set local session_replication_role = replica;
    do $$
    declare found record;
    begin
      for found in select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname = 'public' and tablename <> 'migrations'
      loop
        execute 'delete from ' || found.name;
      end loop;
      for found in select format('%I.%I', schemaname, sequencename) as name from pg_sequences
        where schemaname = 'public' and last_value is not null
      loop
        execute format('alter sequence %s restart', found.name);
      end loop;
      insert into chunk_sets (id, chunk_size, state) values (0, null, 'serving');
    end $$`);
}

/** Does nothing in hooks, where vitest knows no current test. */
export function whenTestEnds(work: () => Promise<void>): void {
  try {
    onTestFinished(work);
  } catch {
    // called from a hook: the caller cleans up
  }
}
