import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { connectDatabase, inTransaction } from "../../../../shared/platform/database/database.ts";
import { isTransientError } from "../../../../shared/platform/transient-errors.ts";
import { testDatabase } from "../../../services/index.ts";

const WORKERS = 6;
const CUTS = 60;
/** Much below what a client waits for a connection, and much above what a statement takes. */
const SETTLED_WITHIN_MS = 15_000;

async function settles<T>(work: PromiseLike<T>): Promise<T> {
  const over = new AbortController();
  const hung = sleep(SETTLED_WITHIN_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error("It does not settle");
  });
  hung.catch(() => {});
  try {
    return await Promise.race([work, hung]);
  } finally {
    over.abort();
  }
}

test.each([1, 3])(
  "connections that are cut again and again break what runs on them, and nothing else: %i of them",
  async (poolSize) => {
    await using database = await testDatabase({ poolSize: 1 });
    const { sql: admin, url } = database;
    const sql = connectDatabase({ url, poolSize });
    await admin`create table pairs (pair text, half int)`;
    try {
      let cutting = true;
      let done = 0;
      const faults: unknown[] = [];
      const works: ((id: string) => PromiseLike<unknown>)[] = [
        (id: string) => sql`select ${id}::text as id, pg_sleep(0.0005)`,
        (id: string) =>
          inTransaction(sql, async (tx) => {
            await tx`insert into pairs values (${id}, 1)`;
            // whatever breaks meanwhile, the second half is none of another transaction
            await sleep(Math.random() * 2);
            await tx`insert into pairs values (${id}, 2)`;
          }),
        (id: string) => Promise.all([sql`select 1`, sql`select ${id}::text`, sql`select pg_sleep(0.001)`]),
      ];
      const workers = Array.from({ length: WORKERS }, async (_, worker) => {
        for (let turn = 0; cutting; turn++) {
          const work = works[(worker + turn) % works.length] as (typeof works)[0];
          try {
            await settles(work(`${worker}-${turn}`));
            done += 1;
          } catch (error) {
            faults.push(error);
          }
        }
      });
      for (let cut = 0; cut < CUTS; cut++) {
        await sleep(Math.random() * 20);
        await admin`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`;
      }
      cutting = false;
      await Promise.all(workers);
      expect(faults.filter((error) => !isTransientError(error))).toEqual([]);
      expect(done).toBeGreaterThan(0);
      for (let turn = 0; turn < 2 * WORKERS; turn++) {
        expect(await settles(sql`select ${turn}::int as turn`)).toEqual([{ turn }]);
      }
      const halves = await admin`
        select pair from pairs group by pair having array_agg(half order by half) <> array[1, 2]`;
      expect([...halves]).toEqual([]);
    } finally {
      await sql.end({ timeout: 1 });
      await admin`drop table pairs`;
    }
  },
  120_000,
);

test("arrays come and go as they are, whatever is in them", async () => {
  await using database = await testDatabase();
  const texts = ["", "NULL", 'a "quoted" \\ one', "{,}", "two\nlines", "\u{1F30A}"];
  const id = "018f6f5e-7b9a-7c2d-8e3f-1a2b3c4d5e6f";
  const at = new Date("2026-05-01T12:00:00.123Z");
  const [row] = await database.sql`
    select ${texts}::text[] as texts, ${[id]}::uuid[] as ids, ${[2 ** 40]}::bigint[] as numbers,
      array[${at}::timestamptz, null] as times, array['{"a": [1]}'::jsonb] as values, array[true, null, false] as flags,
      array[1.5::float8] as floats, array[]::text[] as none, array[['a'], ['b']] as nested`;
  expect(row).toEqual({
    texts,
    ids: [id],
    numbers: [2 ** 40],
    times: [at, null],
    values: [{ a: [1] }],
    flags: [true, null, false],
    floats: [1.5],
    none: [],
    nested: [["a"], ["b"]],
  });
});
