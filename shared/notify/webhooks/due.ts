/**
 * Takes deliveries whose time has come and has them made, and writes down what came of them. A delivery whose attempt
 * is under way is leased: where its message or its sender is lost, it is due again once the lease lapses.
 */
import { atOnce } from "../../platform/at-once.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import { inTransaction, type Sql } from "../../platform/database/database.ts";
import { storableJson } from "../../platform/database/rows.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { storable } from "../../platform/text.ts";
import { type AttemptMessage, type AttemptResult, type Attempts, SEND_QUEUE } from "./attempts.ts";
import { retryDelayMs } from "./backoff.ts";

export interface DueDependencies {
  sql: Sql;
  queues: Pick<QueueSender, "sendAll">;
  attempts: Pick<Attempts, "put">;
  log: Logger;
  random?: () => number;
}

const TAKEN_AT_ONCE = 100;
/** Of one hook in a round: a receiver that is slow does not keep the others waiting. */
const MOST_OF_A_HOOK = 20;
const WRITTEN_AT_ONCE = 20;
/** An attempt takes seconds, and its message may wait for those before it. */
const LEASE = "15 minutes";
/** Deliveries that are over are shown for so long. */
const KEPT = "30 days";
const REMOVED_AT_ONCE = 1_000;

interface DueDelivery {
  id: string;
  attempt: number;
  url: string;
  event: string;
  headers: Record<string, string>;
  secrets: string[];
  body: string;
}

/** @returns how many attempts were sent on their way */
export async function sendDue(dependencies: DueDependencies, hasTime: () => boolean): Promise<number> {
  await endUndeliverable(dependencies.sql);
  let sent = 0;
  while (hasTime()) {
    const due = await takeDue(dependencies.sql);
    if (due.length === 0) break;
    await sendAttempts(dependencies, due);
    sent += due.length;
  }
  return sent;
}

async function takeDue(sql: Sql): Promise<DueDelivery[]> {
  return await sql<DueDelivery[]>`
    with ranked as (
      select seq, next_attempt_at, row_number() over (partition by webhook_id order by next_attempt_at, seq) as place
      from webhook_deliveries where status = 'pending' and next_attempt_at <= now() and attempts < max_attempts),
    next as (
      select w.seq from webhook_deliveries w join ranked r on r.seq = w.seq
      where r.place <= ${MOST_OF_A_HOOK} and w.status = 'pending' and w.next_attempt_at <= now()
      order by r.place, w.seq limit ${TAKEN_AT_ONCE} for update of w skip locked),
    taken as (
      update webhook_deliveries set attempts = attempts + 1, next_attempt_at = now() + ${LEASE}::interval
      where seq in (select seq from next) returning *)
    select t.id, t.attempts as attempt, h.url, t.event, h.headers, t.body,
      array(select s->>'secret' from jsonb_array_elements(h.secrets) s
        where coalesce((s->>'until')::timestamptz > now(), true)) as secrets
    from taken t join webhooks h on h.id = t.webhook_id order by t.seq`;
}

async function sendAttempts({ sql, queues, attempts }: DueDependencies, due: readonly DueDelivery[]): Promise<void> {
  const messages = due.map(({ id, attempt }): AttemptMessage => ({ deliveryId: id, attempt }));
  try {
    await atOnce(WRITTEN_AT_ONCE, due, ({ id, attempt, url, event, headers, secrets, body }) =>
      attempts.put({ deliveryId: id, attempt }, { url, event, headers, secrets, body }),
    );
    await queues.sendAll(SEND_QUEUE, messages);
  } catch (error) {
    // some may be on their way: what is not comes back when its lease lapses, and no attempt is counted for it
    const ids = due.map(({ id }) => id);
    await sql`
      update webhook_deliveries set attempts = attempts - 1, next_attempt_at = now() + interval '1 minute'
      where id = any(${ids}) and status = 'pending' and attempts > 0`;
    throw error;
  }
}

/** Ends those whose hook was stopped, and those whose last attempt was lost with whoever made it. */
async function endUndeliverable(sql: Sql): Promise<void> {
  await sql`
    update webhook_deliveries d set status = 'failed',
      error = case when h.is_active then 'The last attempt was lost' else 'The webhook is not active' end
    from webhooks h
    where h.id = d.webhook_id and d.status = 'pending' and d.next_attempt_at <= now()
      and d.event <> 'webhook.test' and (not h.is_active or d.attempts >= d.max_attempts)`;
  await sql`
    update webhook_deliveries set status = 'failed', error = 'The last attempt was lost'
    where status = 'pending' and next_attempt_at <= now() and attempts >= max_attempts`;
  await sql`
    delete from webhook_deliveries where seq in (
      select seq from webhook_deliveries where status <> 'pending' and created_at < now() - ${KEPT}::interval
      limit ${REMOVED_AT_ONCE})`;
}

const GONE = 410;

/** Idempotent: a result that comes twice, or after the next attempt was begun, changes nothing. */
export async function recordResult(
  { sql, log, random = Math.random }: Pick<DueDependencies, "sql" | "log" | "random">,
  result: AttemptResult,
): Promise<void> {
  const { deliveryId, attempt, at, durationMs, status, body, error, retryAfterMs } = result;
  const delivered = error === null;
  const tried = storableJson([{ at, attempt, status, error, duration_ms: Math.round(durationMs) }]);
  const delayMs = retryDelayMs(attempt, retryAfterMs, random());
  const settled = await inTransaction(sql, async (tx) => {
    const [row] = await tx<{ webhook: string; status: string; event: string }[]>`
      update webhook_deliveries set tries = tries || ${tried}::text::jsonb, response_status = ${status},
        response_body = ${storable(body)}, error = ${error === null ? null : storable(error)},
        status = case when ${delivered} then 'delivered'
          when attempts >= max_attempts or ${status === GONE} then 'failed' else 'pending' end,
        delivered_at = case when ${delivered} then now() end,
        next_attempt_at = now() + ${delayMs} * interval '1 millisecond'
      where id = ${deliveryId} and attempts = ${attempt} and status = 'pending'
        and not exists (select from jsonb_array_elements(tries) t where (t->>'attempt')::int = ${attempt})
      returning webhook_id as webhook, status, event`;
    if (row === undefined || status !== GONE) return row;
    const reason = "The receiver answered 410 Gone: it wants no more";
    await tx`
      update webhooks set is_active = false, stopped_reason = ${reason}, updated_at = now()
      where id = ${row.webhook} and is_active`;
    return row;
  });
  if (settled === undefined) return;
  const fields = { webhook_id: settled.webhook, delivery_id: deliveryId, event: settled.event, attempt, status };
  if (delivered) log.info("a webhook was delivered", fields);
  else if (settled.status === "failed") log.warn("a webhook could not be delivered: it is tried no more", fields);
  else log.info("a webhook was not delivered: it is tried again", { ...fields, delay_ms: delayMs });
}
