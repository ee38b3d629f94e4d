/** The routes that keep webhooks. */
import { z } from "zod";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listWebhooks,
  newSecret,
  readWebhook,
  rotateSecret,
} from "../../shared/notify/webhooks/webhooks.ts";
import { createApi } from "../adapters/api/api.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { orNullAs } from "../adapters/api/or-null.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { checkedUrl } from "../adapters/crawling/checked-url.ts";
import { webhookSecret } from "../adapters/crawling/webhook-options.ts";
import { deliveries, redeliver, test } from "./delivery-routes.ts";
import { type WebhooksApi, webhooksApi } from "./dependencies.ts";
import {
  changedWebhookSchema,
  newWebhookSchema,
  webhookJson,
  webhookSchema,
  withSecretSchema,
} from "./webhook-json.ts";

const params = z.strictObject({ webhook_id: z.uuid() });

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/webhooks",
    scope: "admin",
    summary: "Webhooks, newest first: the standing ones, of all jobs or of one source, or those of one job",
    query: z.strictObject({
      job_id: z.uuid().optional(),
      source_id: z.uuid().optional(),
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: z.object({ items: z.array(webhookSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { job_id: jobId, source_id: sourceId, limit, cursor } }, { sql }: WebhooksApi) => {
    const found = await listWebhooks(sql, { jobId, sourceId, limit: limit + 1, after: cursor });
    return cursorPage(found.map(webhookJson), limit, ({ id }) => id);
  },
);

const create = defineRoute(
  {
    method: "POST",
    path: "/api/v1/webhooks",
    scope: "admin",
    summary: "Create a webhook; the answer is the only place that ever shows its secret",
    body: newWebhookSchema,
    status: 201,
    response: withSecretSchema,
  },
  async ({ body, caller, log }, { sql, inspector }: WebhooksApi) => {
    const secret = body.secret ?? newSecret();
    const url = checkedUrl(inspector, body.url, "url");
    const { source_id: sourceId = null, headers, events } = body;
    const created = await createWebhook(sql, null, { sourceId, url, headers, events, secret });
    log.info("webhook created", { webhook_id: created.id, events: created.events, by: caller.keyId });
    return { ...webhookJson(created), secret };
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/webhooks/{webhook_id}",
    scope: "admin",
    summary: "One webhook, without its secrets",
    params,
    response: webhookSchema,
  },
  async ({ params: { webhook_id: id } }, { sql }: WebhooksApi) => webhookJson(await readWebhook(sql, id)),
);

const change = defineRoute(
  {
    method: "PUT",
    path: "/api/v1/webhooks/{webhook_id}",
    scope: "admin",
    summary: "Change a webhook, or make it active again; headers that are left out stay",
    params,
    body: changedWebhookSchema,
    response: webhookSchema,
  },
  async ({ params: { webhook_id: id }, body, caller, log }, { sql, inspector }: WebhooksApi) => {
    const { headers, events, is_active: active } = body;
    const changed = await changeWebhook(sql, id, {
      url: checkedUrl(inspector, body.url, "url"),
      headers,
      events,
      active,
    });
    log.info("webhook changed", { webhook_id: id, is_active: active, by: caller.keyId });
    return webhookJson(changed);
  },
);

const remove = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/webhooks/{webhook_id}",
    scope: "admin",
    summary: "Remove a webhook with its deliveries",
    params,
    status: 204,
    response: z.null(),
  },
  async ({ params: { webhook_id: id }, caller, log }, { sql }: WebhooksApi) => {
    await deleteWebhook(sql, id);
    log.info("webhook removed", { webhook_id: id, by: caller.keyId });
    return null;
  },
);

const MOST_OVERLAP_H = 168;

const rotate = defineRoute(
  {
    method: "POST",
    path: "/api/v1/webhooks/{webhook_id}/rotate",
    scope: "admin",
    summary: "Sign with another secret, and for a while with the one before it as well; it is shown once",
    params,
    body: z.strictObject({
      /** Left out: one is made. */
      secret: webhookSecret.optional(),
      overlap_hours: orNullAs(z.number().min(0).max(MOST_OVERLAP_H), 24),
    }),
    response: withSecretSchema,
  },
  async ({ params: { webhook_id: id }, body, caller, log }, { sql }: WebhooksApi) => {
    const secret = body.secret ?? newSecret();
    const rotated = await rotateSecret(sql, id, secret, body.overlap_hours * 3600);
    log.info("webhook secret rotated", { webhook_id: id, overlap_hours: body.overlap_hours, by: caller.keyId });
    return { ...webhookJson(rotated), secret };
  },
);

export const api = createApi(
  "webhooks-api",
  [list, create, show, change, remove, rotate, test, deliveries, redeliver],
  webhooksApi,
);
export const handler = api.handler;
