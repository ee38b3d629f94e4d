/** What webhooks can be told. */

export const WEBHOOK_EVENTS = [
  "crawl.completed",
  "crawl.failed",
  "crawl.cancelled",
  "crawl.progress",
  "page.changed",
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** What a hook is told where it does not say. */
export const DEFAULT_EVENTS: readonly WebhookEvent[] = ["crawl.completed", "crawl.failed"];

/** Attempts of a delivery: the first, and five more. */
export const MOST_ATTEMPTS = 6;
