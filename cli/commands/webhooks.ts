/** `webhooks …`: who is told what happens, and what came of telling them. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import type { Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";

interface Webhook {
  id: string;
  url: string;
  events: string[];
  is_active: boolean;
  stopped_reason: string | null;
}

interface Delivery {
  id: string;
  event: string;
  status: string;
  attempts: number;
  response_status: number | null;
  error: string | null;
  created_at: string;
}

interface Shown {
  json?: true;
}

const at = (id: string, below = "") => `/api/v1/webhooks/${encodeURIComponent(id)}${below}`;

export async function listWebhooks(
  api: ApiClient,
  terminal: Terminal,
  { limit, job, json }: Shown & { limit: number; job?: string },
): Promise<number> {
  const query = new URLSearchParams({ limit: String(limit), ...(job && { job_id: job }) });
  const page = await api<Page<Webhook>>("GET", `/api/v1/webhooks?${query}`);
  if (json) terminal.line(JSON.stringify(page, null, 2));
  else if (page.items.length === 0) terminal.line("There is no webhook");
  else for (const each of page.items) terminal.row(lineOf(each));
  return EXIT.done;
}

export async function listDeliveries(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { limit, status, json }: Shown & { limit: number; status?: string },
): Promise<number> {
  const query = new URLSearchParams({ limit: String(limit), ...(status && { status }) });
  const page = await api<Page<Delivery>>("GET", at(id, `/deliveries?${query}`));
  if (json) terminal.line(JSON.stringify(page, null, 2));
  else if (page.items.length === 0) terminal.line("It was told of nothing yet");
  else for (const each of page.items) terminal.row(deliveryLine(each));
  return EXIT.done;
}

export async function testWebhook(api: ApiClient, terminal: Terminal, id: string, { json }: Shown): Promise<number> {
  const sent = await api<{ delivery_id: string }>("POST", at(id, "/test"));
  const what = `Delivery ${sent.delivery_id} is on its way. What comes of it: strandline webhooks deliveries ${id}`;
  terminal.line(json ? JSON.stringify(sent, null, 2) : what);
  return EXIT.done;
}

export async function redeliver(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  deliveryId: string,
  { json }: Shown,
): Promise<number> {
  const delivery = await api<Delivery>("POST", at(id, `/deliveries/${encodeURIComponent(deliveryId)}/redeliver`));
  terminal.line(json ? JSON.stringify(delivery, null, 2) : deliveryLine(delivery));
  return EXIT.done;
}

/** The new secret is the only thing printed, so that it can be piped on. */
export async function rotateSecret(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { overlapHours, json }: Shown & { overlapHours?: number },
): Promise<number> {
  const body = overlapHours === undefined ? {} : { overlap_hours: overlapHours };
  const rotated = await api<Webhook & { secret: string }>("POST", at(id, "/rotate"), body);
  terminal.line(json ? JSON.stringify(rotated, null, 2) : rotated.secret);
  return EXIT.done;
}

function lineOf({ id, url, events, is_active, stopped_reason }: Webhook): string {
  const stopped = is_active ? "" : `  (inactive${stopped_reason === null ? "" : `: ${harmless(stopped_reason)}`})`;
  return `${id}  ${harmless(url)}  ${events.join(",")}${stopped}`;
}

function deliveryLine({ id, event, status, attempts, response_status, error, created_at }: Delivery): string {
  const answered = response_status === null ? "" : `, answered ${response_status}`;
  const why = error === null ? "" : `  (${harmless(error)})`;
  return `${id}  ${created_at}  ${event}  ${status} after ${attempts} attempts${answered}${why}`;
}
