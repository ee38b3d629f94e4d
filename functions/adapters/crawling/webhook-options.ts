/** Where a webhook goes and what it is told, as requests say it. */
import { z } from "zod";
import type { UrlInspector } from "../../../shared/access/url-inspection.ts";
import { DEFAULT_EVENTS, WEBHOOK_EVENTS } from "../../../shared/notify/webhooks/events.ts";
import type { NewWebhook } from "../../../shared/notify/webhooks/webhooks.ts";
import { ApiError } from "../../../shared/platform/errors.ts";
import { orNull, orNullAs } from "../api/or-null.ts";
import { checkedUrl } from "./checked-url.ts";

/** What belongs to the connection or to this sender. */
const OWN_HEADERS =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|content-type|content-encoding|accept-encoding|user-agent|strandline-.*)$/i;
const MOST_HEADERS_LENGTH = 4_096;

export const webhookUrl = z.string().min(1).max(2048);

/** Sent along with each delivery; their values are never shown. */
export const webhookHeaders = z
  .record(
    z
      .string()
      .max(100)
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "not the name of a header: letters, digits and hyphens")
      .refine((name) => !OWN_HEADERS.test(name), "is a header that the sender sets"),
    z.string().regex(/^[\x20-\x7e]*$/, "holds characters that no header can: write them percent-encoded"),
  )
  .refine(
    (headers) => JSON.stringify(headers).length <= MOST_HEADERS_LENGTH,
    `hold over ${MOST_HEADERS_LENGTH} characters`,
  );

/** 128 bits, in hex, have 32 characters. */
export const webhookSecret = z.string().regex(/^[\x21-\x7e]{16,256}$/, "must be 16 to 256 visible ASCII characters");

export const webhookEvents = z.array(z.enum(WEBHOOK_EVENTS)).min(1).max(WEBHOOK_EVENTS.length);

/** Fields of a request for a crawl: a webhook of that job alone. */
export const jobWebhookOptions = {
  webhook_url: orNull(webhookUrl),
  webhook_headers: orNullAs(webhookHeaders, {}),
  /** Left out: deliveries are not signed. */
  webhook_secret: orNull(webhookSecret),
  webhook_events: orNullAs(webhookEvents, [...DEFAULT_EVENTS]),
};

const jobWebhookSchema = z.object(jobWebhookOptions);

const NOTHING_ELSE = JSON.stringify({ webhook_headers: {}, webhook_secret: undefined, webhook_events: DEFAULT_EVENTS });

/**
 * The webhook of a job.
 * @returns undefined where the request names none
 * @throws ApiError 400 URL_INVALID, 403 URL_BLOCKED; 400 VALIDATION_ERROR where only its URL is missing
 */
export function jobWebhook(
  inspector: UrlInspector,
  { webhook_url, webhook_headers, webhook_secret, webhook_events }: z.output<typeof jobWebhookSchema>,
): NewWebhook | undefined {
  if (webhook_url === undefined) {
    const others = { webhook_headers, webhook_secret, webhook_events };
    if (JSON.stringify(others) === NOTHING_ELSE) return undefined;
    throw new ApiError(400, "webhook_url: needed beside webhook_headers, webhook_secret and webhook_events", {
      code: "VALIDATION_ERROR",
    });
  }
  return {
    url: checkedUrl(inspector, webhook_url, "webhook_url"),
    headers: webhook_headers,
    events: webhook_events,
    secret: webhook_secret ?? null,
  };
}
