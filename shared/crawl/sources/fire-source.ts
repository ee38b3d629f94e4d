/**
 * Begins the job that a firing asks for. Firings come at least once, in any order and perhaps late: `last_fired_at`
 * says up to when they are done with, so that one that comes twice is one job, and those that gathered while nobody
 * could hear them are one job too.
 */
import { inspectUrl, type UrlInspector } from "../../access/url-inspection.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { parseCron } from "../schedules/cron.ts";
import { isFiring } from "../schedules/firings.ts";
import { type Firing, SCHEDULES_QUEUE } from "../schedules/messages.ts";
import { dueAt, judgeVisit } from "./revisit-source.ts";
import { runSource } from "./run-source.ts";
import { tellSchedule } from "./schedule-source.ts";
import { findSource } from "./sources.ts";

export type FiringOutcome =
  | { began: string }
  /** Why no job began: none was to begin, or `refused` leaves its reason in `last_error`. */
  | { skipped: "gone" | "paused" | "not its time" | "not due yet" | "done with" | "refused" };

/** A firing that was done with before. */
class DoneWith extends Error {}

/**
 * Idempotent.
 * @param now in ms; firings up to then are done with once this one is
 * @throws whatever may pass: the firing is to be tried again
 */
export async function fireSource(
  dependencies: JobDependencies & { inspector: UrlInspector },
  { source_id, version, at }: Firing,
  now: number,
): Promise<FiringOutcome> {
  const { sql, queues } = dependencies;
  const source = await findSource(sql, source_id);
  if (source === undefined) {
    // an old schedule is left
    await queues.send(SCHEDULES_QUEUE, { keep: { source_id, version, expressions: [], time_zone: "UTC" } });
    return { skipped: "gone" };
  }
  if (version < source.version) await tellSchedule(dependencies, source);
  const { schedule_cron: cron, time_zone, is_active } = source;
  if (!is_active || cron === null) return { skipped: "paused" };
  const time = Date.parse(at);
  if (!isFiring(parseCron(cron), time_zone, time)) return { skipped: "not its time" };
  const until = new Date(Math.max(time, now));
  if (time < (dueAt(await judgeVisit(sql, source)) ?? time)) {
    await takeFiring(sql, source_id, { at, until, error: null });
    return { skipped: "not due yet" };
  }
  try {
    inspect(dependencies.inspector, source.url);
    const job = await runSource(dependencies, source, {
      apiKeyId: source.api_key_id,
      async admit(tx) {
        if (!(await takeFiring(tx, source_id, { at, until, error: null }))) throw new DoneWith();
        await tx`update crawl_sources set last_run_at = ${at}::timestamptz where id = ${source_id}`;
      },
    });
    return { began: job.job_id };
  } catch (error) {
    if (error instanceof DoneWith) return { skipped: "done with" };
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const took = await takeFiring(sql, source_id, { at, until, error: `${error.code}: ${error.message}` });
    return { skipped: took ? "refused" : "done with" };
  }
}

/** The guard's rules may have changed since the source was made. */
function inspect(inspector: UrlInspector, url: string): void {
  const inspected = inspectUrl(inspector, url);
  if (inspected instanceof URL) return;
  throw new ApiError(403, inspected.message, { code: inspected.code, cause: inspected });
}

/** @returns false where it was done with before */
async function takeFiring(
  sql: Queryable,
  sourceId: string,
  { at, until, error }: { at: string; until: Date; error: string | null },
): Promise<boolean> {
  const { count } = await sql`
    update crawl_sources set last_fired_at = ${until}, last_error = ${error}
    where id = ${sourceId} and deleted_at is null and (last_fired_at is null or last_fired_at < ${at}::timestamptz)`;
  return count > 0;
}
