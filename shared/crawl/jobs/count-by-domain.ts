/**
 * Adds to what became of the URLs of each domain, over all jobs: running totals, since counting afterwards would read
 * every capture.
 */
import { type Work, withWork } from "../../access/key-work.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";

export interface Counted {
  url: { host: string };
  outcome: { state: "crawled" | "failed" | "skipped" | "pending" };
  /** Bytes that came over the network. */
  payloadBytes: number;
  /** No request was made: an earlier capture was used again. */
  reused: boolean;
  /** Bytes of its WARC records. */
  storedBytes: number;
}

/**
 * Adds these captures, and counts what an API key has used for them in the same statement. To be called last in a
 * transaction, with nothing locked after it.
 * @param apiKeyId null: nothing is to be counted
 */
export async function countByDomain(
  tx: Transaction,
  capturedPages: readonly Counted[],
  { apiKeyId, work }: { apiKeyId: string | null; work: Partial<Work> },
): Promise<void> {
  const domains = Map.groupBy(capturedPages, ({ url }) => url.host);
  const rows = [...domains].map(([domain, some]) => ({
    domain,
    crawled: some.filter(({ outcome }) => outcome.state === "crawled").length,
    failed: some.filter(({ outcome }) => outcome.state === "failed").length,
    skipped: some.filter(({ outcome }) => outcome.state === "skipped").length,
    retried: some.filter(({ outcome }) => outcome.state === "pending").length,
    reused: some.filter(({ reused }) => reused).length,
    bytes: some.reduce((sum, { payloadBytes }) => sum + payloadBytes, 0),
  }));
  if (rows.length === 0) return;
  await tx`
    ${withWork(tx, apiKeyId, work)}
    insert into domain_counts as d (domain, crawled, failed, skipped, retried, reused, payload_bytes, last_capture_at)
    select domain, crawled, failed, skipped, retried, reused, bytes, now()
    from json_to_recordset(${rowsOf(rows)}::text::json)
      as r (domain text, crawled bigint, failed bigint, skipped bigint, retried bigint, reused bigint, bytes bigint)
    order by domain
    on conflict (domain) do update set crawled = d.crawled + excluded.crawled, failed = d.failed + excluded.failed,
      skipped = d.skipped + excluded.skipped, retried = d.retried + excluded.retried, reused = d.reused + excluded.reused,
      payload_bytes = d.payload_bytes + excluded.payload_bytes, last_capture_at = excluded.last_capture_at`;
}
