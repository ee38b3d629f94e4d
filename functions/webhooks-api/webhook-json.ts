/** Webhooks and their deliveries as the API takes and shows them. Secrets and values of headers never come out. */
import { z } from "zod";
import { DELIVERY_STATUSES, type DeliveryView } from "../../shared/notify/webhooks/deliveries.ts";
import { DEFAULT_EVENTS, WEBHOOK_EVENTS } from "../../shared/notify/webhooks/events.ts";
import type { Webhook } from "../../shared/notify/webhooks/webhooks.ts";
import { orNull, orNullAs } from "../adapters/api/or-null.ts";
import { webhookEvents, webhookHeaders, webhookSecret, webhookUrl } from "../adapters/crawling/webhook-options.ts";

export const newWebhookSchema = z.strictObject({
  /** A monitored source: it hears of that one's jobs alone. */
  source_id: orNull(z.uuid()),
  url: webhookUrl,
  headers: orNullAs(webhookHeaders, {}),
  events: orNullAs(webhookEvents, [...DEFAULT_EVENTS]),
  /** Left out: one is made. */
  secret: webhookSecret.optional(),
});

export const changedWebhookSchema = z.strictObject({
  url: webhookUrl,
  /** Left out: they stay. */
  headers: webhookHeaders.optional(),
  events: webhookEvents,
  is_active: z.boolean().default(true),
});

export const webhookSchema = z.object({
  id: z.uuid(),
  /** null: not of one job alone. */
  job_id: z.uuid().nullable(),
  /** null: not of the jobs of one monitored source alone. */
  source_id: z.uuid().nullable(),
  url: z.string(),
  header_names: z.array(z.string()),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  is_active: z.boolean(),
  /** Why it is not active, where its receiver said so. */
  stopped_reason: z.string().nullable(),
  /** Secrets that deliveries are signed with now: two while they rotate. */
  secret_count: z.int(),
  created_at: z.iso.datetime(),
});

/** The answers that show a secret, once. */
export const withSecretSchema = webhookSchema.extend({ secret: z.string() });

export function webhookJson(webhook: Webhook): z.input<typeof webhookSchema> {
  const { id, jobId, sourceId, url, headerNames, events, active, stoppedReason, secretCount, createdAt } = webhook;
  return {
    id,
    job_id: jobId,
    source_id: sourceId,
    url,
    header_names: headerNames,
    events,
    is_active: active,
    stopped_reason: stoppedReason,
    secret_count: secretCount,
    created_at: createdAt.toISOString(),
  };
}

const time = z.iso.datetime();

export const deliverySchema = z.object({
  /** The same in every attempt. */
  id: z.uuid(),
  webhook_id: z.uuid(),
  job_id: z.uuid().nullable(),
  event: z.string(),
  /** As it is sent. */
  body: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int(),
  max_attempts: z.int(),
  next_attempt_at: time.nullable(),
  /** The oldest first; `status` is null where no answer came. */
  tries: z.array(
    z.object({
      at: time,
      attempt: z.int(),
      status: z.int().nullable(),
      error: z.string().nullable(),
      duration_ms: z.int(),
    }),
  ),
  response_status: z.int().nullable(),
  /** The first 1,000 bytes. */
  response_body: z.string().nullable(),
  error: z.string().nullable(),
  created_at: time,
  delivered_at: time.nullable(),
});

export function deliveryJson(delivery: DeliveryView): z.input<typeof deliverySchema> {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    job_id: delivery.jobId,
    event: delivery.event,
    body: delivery.body,
    status: delivery.status,
    attempts: delivery.attempts,
    max_attempts: delivery.maxAttempts,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    tries: delivery.tries,
    response_status: delivery.responseStatus,
    response_body: delivery.responseBody,
    error: delivery.error,
    created_at: delivery.createdAt.toISOString(),
    delivered_at: delivery.deliveredAt?.toISOString() ?? null,
  };
}
