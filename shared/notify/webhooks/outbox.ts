/**
 * Writes down what webhooks are to be told, in the transaction that changes what it tells of: no event is lost with a
 * process, and none is sent of a change that was not committed.
 */
import type { Queryable, Sql, Transaction } from "../../platform/database/database.ts";
import { MOST_ATTEMPTS, type WebhookEvent } from "./events.ts";

const thisMoment = (sql: Queryable) => sql`statement_timestamp()`;
type Part = ReturnType<typeof thisMoment>;

/** Instants as the API writes them. */
const isoTime = (sql: Queryable, time: Part) =>
  sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The body of the delivery `d`. */
const bodyOf = (sql: Queryable, event: WebhookEvent | "webhook.test", data: Part) => sql`
  json_build_object('id', d.id, 'event', ${event}::text, 'created_at', ${isoTime(sql, thisMoment(sql))},
    'data', ${data})::text`;

/** Of the job `j`. Receivers know the shape from docs/guide/webhooks.md. */
const jobData = (sql: Queryable) => sql`
  json_build_object('job_id', j.id, 'kind', j.kind, 'status', j.status,
    'stop_reason', case when j.completed_at is not null then j.stop_reason end, 'error', left(j.error, 1000),
    'collection_id', j.collection_id, 'retry_of', j.retry_of,
    'counts', json_build_object('discovered', j.discovered, 'open', j.open_urls, 'crawled', j.crawled,
      'failed', j.failed, 'skipped', j.skipped, 'documents', j.documents, 'chunks', j.chunks),
    'created_at', ${isoTime(sql, sql`j.created_at`)}, 'started_at', ${isoTime(sql, sql`j.started_at`)},
    'completed_at', ${isoTime(sql, sql`j.completed_at`)})`;

/** Hooks that want the event of the job with this id, each with the id of its delivery. */
const wanting = (sql: Queryable, event: WebhookEvent, jobId: Part) => sql`
  join webhooks h on h.is_active and h.events @> array[${event}::text] and (h.job_id is null or h.job_id = ${jobId})
    and (h.source_id is null or h.source_id = (select crawl_source_id from jobs where id = ${jobId}))
  cross join lateral (select gen_random_uuid() as id where h.id is not null) d`;

/** To be called in the transaction that ended the job, after its row was changed. */
export async function tellJobEnded(
  tx: Transaction,
  jobId: string,
  status: "completed" | "failed" | "cancelled",
): Promise<void> {
  const event = `crawl.${status}` as const;
  await tx`
    insert into webhook_deliveries (id, webhook_id, job_id, event, event_key, body, max_attempts)
    select d.id, h.id, j.id, ${event}, ${event} || ':' || j.id, ${bodyOf(tx, event, jobData(tx))}, ${MOST_ATTEMPTS}
    from jobs j ${wanting(tx, event, tx`j.id`)}
    where j.id = ${jobId}
    on conflict (webhook_id, event_key) do nothing`;
}

/** Of captures that are compared again, long after they came, nothing is told. */
const NEWS = "1 day";

/**
 * To be called in the transaction that wrote the changes. Each is told once, however often its captures are compared.
 * @param captureIds the later capture of each change
 */
export async function tellPagesChanged(tx: Transaction, captureIds: readonly number[]): Promise<void> {
  const event = "page.changed";
  const data = tx`
    json_build_object('url', c.final_url, 'page', p.page, 'change_id', p.id, 'summary', p.summary,
      'change_ratio', p.change_ratio, 'from_capture_id', p.from_capture_id, 'to_capture_id', p.to_capture_id,
      'captured_at', ${isoTime(tx, tx`c.fetched_at`)}, 'job_id', c.job_id)`;
  await tx`
    insert into webhook_deliveries (id, webhook_id, job_id, event, event_key, body, max_attempts)
    select d.id, h.id, c.job_id, ${event}, ${event} || ':' || p.to_capture_id, ${bodyOf(tx, event, data)},
      ${MOST_ATTEMPTS}
    from page_changes p join captures c on c.id = p.to_capture_id ${wanting(tx, event, tx`c.job_id`)}
    where p.to_capture_id = any(${captureIds as number[]}) and p.kind = 'updated'
      and c.fetched_at > greatest(h.created_at, now() - ${NEWS}::interval)
    on conflict (webhook_id, event_key) do nothing`;
}

/** Between two of a job, at the least. */
const PROGRESS_EVERY = "1 minute";

/**
 * Writes down how jobs go on that have changed since their hooks were told last. Progress is out of date soon: it is
 * sent once, and not while an earlier one has not been sent.
 * @returns how many deliveries there are to make
 */
export async function tellProgress(sql: Sql): Promise<number> {
  const event = "crawl.progress";
  const { count } = await sql`
    insert into webhook_deliveries (id, webhook_id, job_id, event, event_key, body, max_attempts)
    select d.id, h.id, j.id, ${event}, ${event} || ':' || j.id || ':' || extract(epoch from j.updated_at),
      ${bodyOf(sql, event, jobData(sql))}, 1
    from jobs j ${wanting(sql, event, sql`j.id`)}
    where j.status in ('running', 'embedding') and not exists (
      select from webhook_deliveries told
      where told.webhook_id = h.id and told.job_id = j.id and told.event = ${event}
        and (told.status = 'pending' or told.created_at > now() - ${PROGRESS_EVERY}::interval))
    on conflict (webhook_id, event_key) do nothing`;
  return count;
}

/**
 * A delivery that tells of nothing but itself.
 * @returns its id; undefined where there is no such hook
 */
export async function tellTest(sql: Queryable, webhookId: string): Promise<string | undefined> {
  const event = "webhook.test";
  const [row] = await sql<{ id: string }[]>`
    insert into webhook_deliveries (id, webhook_id, event, event_key, body, max_attempts)
    select d.id, h.id, ${event}, ${event} || ':' || d.id,
      ${bodyOf(sql, event, sql`json_build_object('webhook_id', h.id)`)}, 1
    from webhooks h cross join lateral (select gen_random_uuid() as id where h.id is not null) d
    where h.id = ${webhookId}
    returning id`;
  return row?.id;
}
