/** What webhooks are told by crawls and comparisons that happen, up to the rows that are to be sent. */
import { expect, it, onTestFinished } from "vitest";
import { computeChanges } from "../../../shared/archive/changes/compute-changes.ts";
import { crawlConfigSchema } from "../../../shared/crawl/settings/crawl-config.ts";
import { cancelJob } from "../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../shared/crawl/submit/create-job.ts";
import type { WebhookEvent } from "../../../shared/notify/webhooks/events.ts";
import { createWebhook } from "../../../shared/notify/webhooks/webhooks.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { html, startSite } from "../../sites/site.ts";
import { newJob } from "../crawl/crawl-setup.ts";
import { realCrawl } from "../crawl/real-crawl.ts";

const ALL: readonly WebhookEvent[] = [
  "crawl.completed",
  "crawl.failed",
  "crawl.cancelled",
  "crawl.progress",
  "page.changed",
];
const hook = (path: string) => ({ url: `http://hook.example/${path}`, headers: {}, events: ALL, secret: null });

interface Told {
  url: string;
  event: string;
  body: { id: string; event: string; data: Record<string, unknown> };
}

async function toldBy(sql: Sql): Promise<Told[]> {
  const rows = await sql<{ url: string; event: string; body: string }[]>`
    select h.url, d.event, d.body from webhook_deliveries d join webhooks h on h.id = d.webhook_id order by d.seq`;
  return rows.map(({ body, ...row }) => ({ ...row, body: JSON.parse(body) }));
}

async function crawling() {
  let dose = 5;
  const text = () => `<p>Adults take ${dose} mg twice a day. ${"Keep it dry, and away from children. ".repeat(20)}</p>`;
  const site = await startSite({ "/": () => html(`<!doctype html><title>Guide</title><main>${text()}</main>`) });
  onTestFinished(() => site.close());
  const crawl = await realCrawl();
  onTestFinished(() => crawl.close());
  const config = crawlConfigSchema.parse({ rate_limit_rps: 1000 });
  const page = (more = {}) => newJob([`${site.origin}/`], { config, ...more });
  return {
    ...crawl,
    site,
    page,
    change(): void {
      dose += 45;
    },
  };
}

it("the end of a job is told to its own hook and to standing ones, once each, and to no hook of another job", async () => {
  const crawl = await crawling();
  const { sql, page } = crawl;
  await createWebhook(sql, null, hook("standing"));
  const [first, second] = await crawl.run(page({ webhook: hook("own") }), page());
  const told = await toldBy(sql);
  expect(told.map(({ url, event, body }) => [url.slice(-8), event, body.data["job_id"]]).toSorted()).toEqual(
    [
      ["mple/own", "crawl.completed", first?.job_id],
      ["standing", "crawl.completed", first?.job_id],
      ["standing", "crawl.completed", second?.job_id],
    ].toSorted(),
  );
  expect(told[0]?.body).toMatchObject({
    event: "crawl.completed",
    data: { status: "completed", counts: { crawled: 1, failed: 0, open: 0 } },
  });
});

it("a job that is cancelled says so", async () => {
  const crawl = await crawling();
  const { sql, dependencies, page } = crawl;
  const { job_id } = await createJob(dependencies, page({ webhook: hook("own") }));
  for (const _ of [1, 2]) await cancelJob(dependencies, job_id);
  await crawl.finish([job_id]);
  expect((await toldBy(sql)).map(({ event, body }) => [event, body.data["status"]])).toEqual([
    ["crawl.cancelled", "cancelled"],
  ]);
});

it("a page whose text changed is told once, however often it is compared; one that is the same is not", async () => {
  const crawl = await crawling();
  const { sql, dependencies, page, site } = crawl;
  await createWebhook(sql, null, { ...hook("changes"), events: ["page.changed"] });
  const compute = () => computeChanges(dependencies, () => true);
  await crawl.run(page());
  await crawl.run(page());
  await compute();
  expect(await toldBy(sql)).toEqual([]);
  crawl.change();
  await crawl.run(page());
  for (const _ of [1, 2]) await compute();
  const told = await toldBy(sql);
  expect(told).toHaveLength(1);
  expect(told[0]?.body).toMatchObject({ event: "page.changed", data: { url: `${site.origin}/` } });
});
