/** Ends an import: revisits are resolved once all captures are stored, since originals may come later in the file. */
import { type JobRow, type Settled, settleJob } from "../../crawl/jobs/lifecycle.ts";
import type { Transaction } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";

/** To be called in the transaction that has changed the job's counts. */
export async function settleImport(tx: Transaction, job: JobRow, log: Logger): Promise<Settled> {
  if (job.counts.open > 0) return "unchanged";
  await resolveRevisits(tx, job.id);
  return await settleJob(tx, job.id, log);
}

/**
 * Points revisits to the captures of what they revisit: by the id of its record, or its URL and date, or its payload
 * digest. Those of other imports that waited for an original of this one are resolved as well.
 */
async function resolveRevisits(tx: Transaction, jobId: string): Promise<void> {
  // none that Postgres would refuse holds up whatever is imported later
  const date = tx`case when d.refers_to->>'date' ~ '^(199|[2-9])\\d' then (d.refers_to->>'date')::timestamptz end`;
  await tx`
    update captures r set revisit_of = o.id from captures o
    where r.job_id = ${jobId} and r.refers_to is not null and r.revisit_of is null
      and o.job_id = ${jobId} and o.refers_to is null and o.warc_record_id = r.refers_to->>'recordId'`;
  await tx`
    update captures r set revisit_of = found.id
    from captures d cross join lateral (
      select o.id from captures o
      where o.url_hash = decode(d.refers_to->>'urlHash', 'hex') and o.refers_to is null and o.revisit_of is null
        and o.reused_from is null and o.warc_key is not null
        and (o.warc_record_id = d.refers_to->>'recordId' or o.fetched_at = ${date}
          or (d.stated_digest in (o.stated_digest, o.payload_digest) and o.status_code between 200 and 299))
      order by o.warc_record_id = d.refers_to->>'recordId' desc nulls last,
        o.fetched_at = ${date} desc nulls last,
        abs(extract(epoch from o.fetched_at - d.fetched_at))
      limit 1) found
    where r.id = d.id and d.refers_to is not null and d.revisit_of is null
      and (d.job_id = ${jobId} or exists (
        select from captures n where n.job_id = ${jobId} and n.url_hash = decode(d.refers_to->>'urlHash', 'hex')))`;
  await tx`
    update captures r set revisit_of = found.id
    from (
      select distinct on (o.stated_digest) o.stated_digest, o.id from captures o
      where o.job_id = ${jobId} and o.refers_to is null and o.stated_digest is not null
      order by o.stated_digest, o.fetched_at) found
    where r.job_id = ${jobId} and r.refers_to is not null and r.revisit_of is null
      and r.stated_digest = found.stated_digest`;
}
