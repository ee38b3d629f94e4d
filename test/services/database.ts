/** A database of a test's own in the shared server. */
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { inject, onTestFinished } from "vitest";
import { connectDatabase, type Sql } from "../../shared/platform/database/database.ts";

export interface TestDatabase extends AsyncDisposable {
  sql: Sql;
  url: string;
  /** Closes the connections and drops the database. */
  drop(): Promise<void>;
}

/**
 * A fresh migrated database. Inside a test it is dropped when that test ends; in `beforeAll` call `drop()` in `afterAll`
 * (or use `await using`).
 *
 * @example
 * const { sql, url } = await testDatabase();
 */
export async function testDatabase({ poolSize = 4 }: { poolSize?: number } = {}): Promise<TestDatabase> {
  const template = new URL(inject("postgresTemplateUrl"));
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await asAdmin(template, async (admin) => {
    await admin`create database ${admin(name)} template template`;
  });
  const url = Object.assign(new URL(template), { pathname: `/${name}` }).href;
  const sql = connectDatabase({ url, poolSize });
  let dropped = false;
  const drop = async () => {
    if (dropped) return;
    dropped = true;
    await sql.end({ timeout: 1 });
    await asAdmin(template, async (admin) => {
      await admin`drop database if exists ${admin(name)} with (force)`;
    });
  };
  whenTestEnds(drop);
  return { sql, url, drop, [Symbol.asyncDispose]: drop };
}

async function asAdmin(template: URL, work: (sql: postgres.Sql) => Promise<void>): Promise<void> {
  const admin = postgres(Object.assign(new URL(template), { pathname: "/postgres" }).href, {
    max: 1,
    onnotice: () => {},
  });
  try {
    // copies of one template are made one at a time; Postgres refuses rather than waits
    await admin`select pg_advisory_lock(1)`;
    await work(admin);
  } finally {
    await admin.end();
  }
}

/** Does nothing in hooks, where vitest knows no current test. */
export function whenTestEnds(work: () => Promise<void>): void {
  try {
    onTestFinished(work);
  } catch {
    // called from a hook: the caller cleans up
  }
}
