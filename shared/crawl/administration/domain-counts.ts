/** What became of the URLs of each domain, over all jobs. */
import type { Queryable } from "../../platform/database/database.ts";

export interface DomainCounts {
  domain: string;
  crawled: number;
  failed: number;
  skipped: number;
  retried: number;
  reused: number;
  payload_bytes: number;
  last_capture_at: Date;
}

/** @returns undefined where no URL of the domain was ever tried */
export async function readDomainCounts(sql: Queryable, domain: string): Promise<DomainCounts | undefined> {
  const [row] = await sql<DomainCounts[]>`select * from domain_counts where domain = ${domain}`;
  return row;
}

/**
 * In order of name.
 * @param after the last domain seen
 */
export async function listDomainCounts(
  sql: Queryable,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<DomainCounts[]> {
  return await sql<DomainCounts[]>`
    select * from domain_counts where ${after === undefined ? sql`true` : sql`domain > ${after}`}
    order by domain limit ${limit}`;
}
