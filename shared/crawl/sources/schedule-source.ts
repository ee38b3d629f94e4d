/**
 * Has the schedules of sources kept at EventBridge. Whoever changes a source sends news of it after the commit; where
 * that is lost, the row says `schedule_pending` still, and the sweep sends it again.
 */
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { parseCron } from "../schedules/cron.ts";
import { toEventBridge } from "../schedules/eventbridge-cron.ts";
import { type KeepSchedules, type ListedSchedules, SCHEDULES_QUEUE } from "../schedules/messages.ts";

export interface ScheduledRow {
  id: string;
  version: number;
  schedule_cron: string | null;
  time_zone: string;
  is_active: boolean;
}

interface Senders {
  queues: QueueSender;
  log: Logger;
}

/** News younger than this may still be on its way. */
const ON_ITS_WAY = "2 minutes";
const MOST_RESENT = 500;

/** What EventBridge is to have of a source. */
export function schedulesOf({ id, version, schedule_cron, time_zone, is_active }: ScheduledRow): KeepSchedules {
  const fires = is_active && schedule_cron !== null;
  const expressions = fires ? [...toEventBridge(parseCron(schedule_cron)).expressions] : [];
  return { source_id: id, version, expressions, time_zone };
}

/** To be called after the commit of a change: what cannot be sent now is sent by the sweep. */
export async function tellSchedule({ queues, log }: Senders, row: ScheduledRow): Promise<void> {
  try {
    await queues.send(SCHEDULES_QUEUE, { keep: schedulesOf(row) });
  } catch (error) {
    log.warn("the schedule of a source could not be told of its change: the sweep tries again", {
      error,
      source_id: row.id,
    });
  }
}

/** @returns how many sources were told of again */
export async function retellSchedules({ sql, queues }: { sql: Queryable; queues: QueueSender }): Promise<number> {
  const rows = await sql<ScheduledRow[]>`
    update crawl_sources set schedule_told_at = now()
    where id in (
      select id from crawl_sources where schedule_pending and schedule_told_at < now() - ${ON_ITS_WAY}::interval
      order by schedule_told_at limit ${MOST_RESENT} for update skip locked)
    returning id, version, schedule_cron, time_zone, is_active`;
  await queues.sendAll(
    SCHEDULES_QUEUE,
    rows.map((row) => ({ keep: schedulesOf(row) })),
  );
  return rows.length;
}

/** EventBridge has the schedules of this version; a deleted source goes with that. */
export async function noteKept(
  sql: Queryable,
  { source_id, version }: { source_id: string; version: number },
): Promise<void> {
  await sql`update crawl_sources set schedule_pending = false where id = ${source_id} and version = ${version}`;
  await sql`delete from crawl_sources where id = ${source_id} and version = ${version} and deleted_at is not null`;
}

/**
 * Compares what EventBridge has with what it is to have, and sends what mends the difference.
 * @returns how many sources differed
 */
export async function reconcileSchedules(
  { sql, queues, log }: Senders & { sql: Queryable },
  { after, upto, at, sources }: ListedSchedules,
): Promise<number> {
  const rows = await sql<(ScheduledRow & { settled: boolean })[]>`
    select id, version, schedule_cron, time_zone, is_active,
      not schedule_pending and updated_at < ${at}::timestamptz as settled
    from crawl_sources
    where (${after}::uuid is null or id > ${after}) and (${upto}::uuid is null or id <= ${upto})`;
  const listed = new Map(sources.map((each) => [each.source_id, each]));
  const known = new Set(rows.map(({ id }) => id));
  // of what changed meanwhile there is news under way
  const differing = rows.filter((row) => row.settled && !isKept(schedulesOf(row), listed.get(row.id)));
  const orders: KeepSchedules[] = [];
  for (const { id, version } of differing) {
    // a database that was restored may be behind what EventBridge has
    const next = Math.max(version, (listed.get(id)?.version ?? 0) + 1);
    const [row] = await sql<ScheduledRow[]>`
      update crawl_sources set version = ${next}, schedule_pending = true, schedule_told_at = now()
      where id = ${id} and version = ${version} returning id, version, schedule_cron, time_zone, is_active`;
    if (row !== undefined) orders.push(schedulesOf(row));
  }
  for (const { source_id, version } of sources) {
    if (!known.has(source_id)) orders.push({ source_id, version, expressions: [], time_zone: "UTC" });
  }
  await queues.sendAll(
    SCHEDULES_QUEUE,
    orders.map((keep) => ({ keep })),
  );
  if (orders.length > 0) log.warn("schedules of sources differed, and are mended", { sources: orders.length });
  return orders.length;
}

function isKept(wanted: KeepSchedules, listed: { version: number; schedules: number } | undefined): boolean {
  if (listed === undefined) return wanted.expressions.length === 0;
  return listed.version === wanted.version && listed.schedules === wanted.expressions.length;
}
