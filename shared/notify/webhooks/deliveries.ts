/** Deliveries as the API shows them, and those that are made again by hand. */
import type { Queryable } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";

export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;

export interface Try {
  /** ISO 8601. */
  at: string;
  attempt: number;
  status: number | null;
  error: string | null;
  duration_ms: number;
}

export interface DeliveryView {
  /** Its place in the list. */
  seq: string;
  id: string;
  webhookId: string;
  jobId: string | null;
  event: string;
  body: string;
  status: (typeof DELIVERY_STATUSES)[number];
  attempts: number;
  maxAttempts: number;
  nextAttemptAt: Date | null;
  tries: Try[];
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
  createdAt: Date;
  deliveredAt: Date | null;
}

const columns = (sql: Queryable) => sql`
  seq::text, id, webhook_id as "webhookId", job_id as "jobId", event, body, status, attempts,
  max_attempts as "maxAttempts", case when status = 'pending' then next_attempt_at end as "nextAttemptAt", tries,
  response_status as "responseStatus", response_body as "responseBody", error, created_at as "createdAt",
  delivered_at as "deliveredAt"`;

/**
 * Newest first.
 * @param after the `seq` of the last one seen
 */
export async function listDeliveries(
  sql: Queryable,
  webhookId: string,
  { limit, after, status }: { limit: number; after?: string | undefined; status?: DeliveryView["status"] | undefined },
): Promise<DeliveryView[]> {
  return await sql<DeliveryView[]>`
    select ${columns(sql)} from webhook_deliveries
    where webhook_id = ${webhookId} and ${after === undefined ? sql`true` : sql`seq < ${after}::bigint`}
      and ${status === undefined ? sql`true` : sql`status = ${status}`}
    order by seq desc limit ${limit}`;
}

/**
 * Has it made once more, with the same id and body.
 * @throws ApiError 404 NOT_FOUND, 409 CONFLICT where it is on its way, or where its hook is not active
 */
export async function redeliver(sql: Queryable, webhookId: string, deliveryId: string): Promise<DeliveryView> {
  const [row] = await sql<DeliveryView[]>`
    update webhook_deliveries set status = 'pending', next_attempt_at = now(), max_attempts = attempts + 1,
      delivered_at = null
    where id = ${deliveryId} and webhook_id = ${webhookId} and status <> 'pending'
      and exists (select from webhooks h where h.id = webhook_id and h.is_active)
    returning ${columns(sql)}`;
  if (row !== undefined) return row;
  const [known] = await sql<{ status: string }[]>`
    select status from webhook_deliveries where id = ${deliveryId} and webhook_id = ${webhookId}`;
  if (known === undefined) {
    throw new ApiError(404, `The webhook ${webhookId} has no delivery ${deliveryId}`, { code: "NOT_FOUND" });
  }
  const why = known.status === "pending" ? "is on its way already" : "has no active webhook: set its is_active first";
  throw new ApiError(409, `The delivery ${deliveryId} ${why}`, { code: "CONFLICT" });
}
