/** Transactions that end when a test says so, for what happens to those who wait for them. */
import { expect } from "vitest";
import type { Sql, Transaction } from "../../../shared/platform/database/database.ts";

/** A database whose next transaction has done its work and does not commit before it is told to. */
export function holding(sql: Sql): { sql: Sql; worked: Promise<void>; commit(): void } {
  const [worked, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const begin = (work: (tx: Transaction) => Promise<unknown>) =>
    sql.begin(async (tx) => {
      const result = await work(tx);
      worked.resolve();
      await commit.promise;
      return result;
    });
  const held = new Proxy(sql, { get: (target, name) => (name === "begin" ? begin : Reflect.get(target, name)) });
  return { sql: held, worked: worked.promise, commit: commit.resolve };
}

/** Until some transaction of the database waits for another. */
export async function untilSomeoneWaits(sql: Sql): Promise<void> {
  const waiting = () => sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(waiting).not.toHaveLength(0);
}
