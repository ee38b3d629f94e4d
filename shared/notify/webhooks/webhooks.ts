/** Webhooks as rows: standing ones, and those of one job, which go with it. */
import { randomBytes } from "node:crypto";
import type { Queryable } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import type { WebhookEvent } from "./events.ts";

export interface Webhook {
  id: string;
  /** null: not of one job alone. */
  jobId: string | null;
  /** null: not of the jobs of one source alone. */
  sourceId: string | null;
  url: string;
  /** Their values are for the receiver alone. */
  headerNames: string[];
  events: WebhookEvent[];
  active: boolean;
  stoppedReason: string | null;
  /** Secrets that deliveries are signed with now. */
  secretCount: number;
  createdAt: Date;
}

export interface NewWebhook {
  /** Told of the jobs of this source alone. */
  sourceId?: string | null;
  url: string;
  headers: Record<string, string>;
  events: readonly WebhookEvent[];
  /** null: deliveries are not signed. */
  secret: string | null;
}

export interface ChangedWebhook extends Pick<NewWebhook, "url" | "events"> {
  /** undefined: they stay. */
  headers: Record<string, string> | undefined;
  active: boolean;
}

/** 256 random bits. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString("base64url")}`;

/**
 * @param jobId null: not of one job alone
 * @throws ApiError 404 NOT_FOUND where there is no such source
 */
export async function createWebhook(
  sql: Queryable,
  jobId: string | null,
  { sourceId = null, url, headers, events, secret }: NewWebhook,
): Promise<Webhook> {
  const secrets = secret === null ? [] : [{ secret, until: null }];
  const [row] = await sql<Webhook[]>`
    insert into webhooks (id, job_id, source_id, url, headers, secrets, events)
    select ${uuidv7()}, ${jobId}, ${sourceId}, ${url}, ${JSON.stringify(headers)}::text::jsonb,
      ${JSON.stringify(secrets)}::text::jsonb, ${[...new Set(events)]}
    where ${sourceId}::uuid is null
      or exists (select from crawl_sources where id = ${sourceId} and deleted_at is null)
    returning ${columns(sql)}`;
  if (row === undefined) throw new ApiError(404, `There is no source ${sourceId}`, { code: "NOT_FOUND" });
  return row;
}

/** @throws ApiError 404 NOT_FOUND */
export async function readWebhook(sql: Queryable, id: string): Promise<Webhook> {
  const [row] = await sql<Webhook[]>`select ${columns(sql)} from webhooks where id = ${id}`;
  return found(row, id);
}

/**
 * Newest first.
 * @param after the id of the last one seen
 * @param filter `jobId`: those of one job; else the standing ones, with `sourceId` those of one source
 */
export async function listWebhooks(
  sql: Queryable,
  filter: { limit: number; after?: string | undefined; jobId?: string | undefined; sourceId?: string | undefined },
): Promise<Webhook[]> {
  const { limit, after, jobId, sourceId } = filter;
  return await sql<Webhook[]>`
    select ${columns(sql)} from webhooks
    where ${jobId === undefined ? sql`job_id is null` : sql`job_id = ${jobId}`}
      and ${sourceId === undefined ? sql`true` : sql`source_id = ${sourceId}`}
      and ${after === undefined ? sql`true` : sql`id < ${after}`}
    order by id desc limit ${limit}`;
}

/**
 * A hook that is active again is told what happens from then on, and what waits for it still.
 * @throws ApiError 404 NOT_FOUND
 */
export async function changeWebhook(
  sql: Queryable,
  id: string,
  { url, headers, events, active }: ChangedWebhook,
): Promise<Webhook> {
  const kept = headers === undefined ? sql`headers` : sql`${JSON.stringify(headers)}::text::jsonb`;
  const [row] = await sql<Webhook[]>`
    update webhooks set url = ${url}, headers = ${kept}, events = ${[...new Set(events)]}, is_active = ${active},
      stopped_reason = case when ${active} then null else stopped_reason end, updated_at = now()
    where id = ${id} returning ${columns(sql)}`;
  return found(row, id);
}

/**
 * Its deliveries go with it.
 * @throws ApiError 404 NOT_FOUND
 */
export async function deleteWebhook(sql: Queryable, id: string): Promise<void> {
  const { count } = await sql`delete from webhooks where id = ${id}`;
  if (count === 0) throw missing(id);
}

/**
 * Deliveries are signed with the new secret from now on, and with the one before it as well while both are valid.
 * @param overlapS seconds
 * @throws ApiError 404 NOT_FOUND
 */
export async function rotateSecret(sql: Queryable, id: string, secret: string, overlapS: number): Promise<Webhook> {
  const [row] = await sql<Webhook[]>`
    update webhooks set updated_at = now(), secrets = jsonb_build_array(
        jsonb_build_object('secret', ${secret}::text, 'until', null)) || case
      when ${overlapS} > 0 and jsonb_array_length(secrets) > 0 then jsonb_build_array(jsonb_build_object(
        'secret', secrets->0->>'secret', 'until', to_jsonb(now() + ${overlapS} * interval '1 second')))
      else '[]' end
    where id = ${id} returning ${columns(sql)}`;
  return found(row, id);
}

function columns(sql: Queryable) {
  return sql`
    id, job_id as "jobId", source_id as "sourceId", url, array(select jsonb_object_keys(headers) order by 1) as "headerNames", events,
    is_active as active, stopped_reason as "stoppedReason", created_at as "createdAt",
    (select count(*)::int from jsonb_array_elements(secrets) s
      where coalesce((s->>'until')::timestamptz > now(), true)) as "secretCount"`;
}

function found(row: Webhook | undefined, id: string): Webhook {
  if (row === undefined) throw missing(id);
  return row;
}

export const missing = (id: string): ApiError => new ApiError(404, `There is no webhook ${id}`, { code: "NOT_FOUND" });
