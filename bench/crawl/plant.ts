/** Makes many rows of one page that was crawled, without crawling: for measurements of what shows them. */
import type { Sql } from "../../shared/platform/database/database.ts";

/** The job has so many results then, each with the capture of its first page. */
export async function plantPages(sql: Sql, jobId: string, pages: number): Promise<void> {
  await sql`
    insert into frontier (job_id, url_hash, url, host, depth, priority, state, capture_id, error_code, result_seq)
    select job_id, sha256(convert_to(url || n, 'UTF8')), url || 'page/' || n, host, n % 7, n,
      case when n % 50 = 0 then 'failed' else 'crawled' end, case when n % 50 = 0 then null else capture_id end,
      case when n % 50 = 0 then 'CONNECT_TIMEOUT' end, n
    from frontier, generate_series(2, ${pages}::int) n where job_id = ${jobId} and result_seq = 1`;
  await sql`
    update jobs set discovered = ${pages}, crawled = ${pages - Math.floor(pages / 50)},
      failed = ${Math.floor(pages / 50)}, results = ${pages} where id = ${jobId}`;
}

/** The job's generation has so many documents then: copies of its first one. */
export async function plantDocuments(sql: Sql, jobId: string, documents: number): Promise<void> {
  const columns = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_name = 'documents' and table_schema = current_schema() and is_generated = 'NEVER'
      and is_identity = 'NO' and column_name not in ('id', 'url', 'url_hash', 'title')`;
  const others = columns.map(({ name }) => `"${name}"`).join(", ");
  await sql.begin(async (tx) => {
    // the index of words has nothing to read in a copy
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into documents (id, url, url_hash, title, ${tx.unsafe(others)})
      select gen_random_uuid(), url || 'document/' || n, sha256(convert_to(url || n, 'UTF8')), 'Document ' || n,
        ${tx.unsafe(others)}
      from (select * from documents where job_id = ${jobId} limit 1) one, generate_series(2, ${documents}::int) n`;
  });
  await sql`analyze documents`;
}
