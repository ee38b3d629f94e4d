/** The routes that show deliveries, and have them made by hand. */
import { z } from "zod";
import { RESULT_QUEUE, type ResultMessage } from "../../shared/notify/webhooks/attempts.ts";
import { DELIVERY_STATUSES, listDeliveries, redeliver as makeAgain } from "../../shared/notify/webhooks/deliveries.ts";
import { tellTest } from "../../shared/notify/webhooks/outbox.ts";
import { missing, readWebhook } from "../../shared/notify/webhooks/webhooks.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { WebhooksApi } from "./dependencies.ts";
import { deliveryJson, deliverySchema } from "./webhook-json.ts";

const params = z.strictObject({ webhook_id: z.uuid() });

/** Not to wait for the next minute. Where the message is lost, that minute comes. */
async function wake({ flags, queues, log }: WebhooksApi): Promise<void> {
  await flags.markActive();
  await queues.send(RESULT_QUEUE, { due: true } satisfies ResultMessage).catch((error: unknown) => {
    log.warn("a delivery waits for the next minute", { error });
  });
}

export const test = defineRoute(
  {
    method: "POST",
    path: "/api/v1/webhooks/{webhook_id}/test",
    scope: "admin",
    summary: "Deliver a test event, once, whether the webhook is active or not",
    params,
    status: 202,
    response: z.object({ delivery_id: z.uuid(), message: z.string() }),
  },
  async ({ params: { webhook_id: id } }, dependencies: WebhooksApi) => {
    const delivery_id = await tellTest(dependencies.sql, id);
    if (delivery_id === undefined) throw missing(id);
    await wake(dependencies);
    return { delivery_id, message: "The test is on its way: its delivery says what came of it" };
  },
);

export const deliveries = defineRoute(
  {
    method: "GET",
    path: "/api/v1/webhooks/{webhook_id}/deliveries",
    scope: "admin",
    summary: "Deliveries of the last 30 days, newest first, with each attempt",
    params,
    query: z.strictObject({
      status: z.enum(DELIVERY_STATUSES).optional(),
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.string().regex(/^\d{1,15}$/)),
    }),
    response: z.object({ items: z.array(deliverySchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ params: { webhook_id: id }, query: { status, limit, cursor } }, { sql }: WebhooksApi) => {
    await readWebhook(sql, id);
    const found = await listDeliveries(sql, id, { status, limit: limit + 1, after: cursor });
    const { items, ...rest } = cursorPage(found, limit, ({ seq }) => seq);
    return { items: items.map(deliveryJson), ...rest };
  },
);

export const redeliver = defineRoute(
  {
    method: "POST",
    path: "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    scope: "admin",
    summary: "Make a delivery once more, with the same id and body",
    params: params.extend({ delivery_id: z.uuid() }),
    status: 202,
    response: deliverySchema,
  },
  async ({ params: { webhook_id, delivery_id }, caller, log }, dependencies: WebhooksApi) => {
    const delivery = await makeAgain(dependencies.sql, webhook_id, delivery_id);
    log.info("webhook delivery made again", { webhook_id, delivery_id, by: caller.keyId });
    await wake(dependencies);
    return deliveryJson(delivery);
  },
);
