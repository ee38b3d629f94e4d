import { expect, test } from "vitest";
import { createJob, readJob } from "../../../shared/crawl/jobs.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site } from "./crawl-setup.ts";

const site: Site = (url) => ({ html: page(url) });
type Setup = Awaited<ReturnType<typeof crawlSetup>>;
const block = (setup: Setup, domain: string) => setup.sql`
  insert into domain_settings (domain, is_blocked, revision) values (${domain}, true, 1)`;
const urls = (host: string, count: number) => Array.from({ length: count }, (_, at) => `http://${host}/${at}`);

test("URLs of a blocked host end as results without a task, and those of other hosts go on", async () => {
  const setup = await crawlSetup();
  await block(setup, "blocked.example");
  const job = await createJob(setup.dependencies, newJob([...urls("blocked.example", 130), ...urls("a.example", 3)]));
  expect(await setup.crawl(site)).toEqual(urls("a.example", 3));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    counts: { crawled: 3, skipped: 130, open: 0 },
  });
  const [row] = await setup.sql`
    select count(*)::int, count(distinct result_seq)::int as places, max(result_seq) as last,
      count(*) filter (where error_code = 'DOMAIN_BLOCKED')::int as blocked
    from frontier where job_id = ${job.job_id}`;
  expect(row).toEqual({ count: 133, places: 133, last: 133, blocked: 130 });
  const [counts] = await setup.sql`select claimed, results from jobs where id = ${job.job_id}`;
  expect(counts).toEqual({ claimed: 3, results: 133 });
});

test("no spelling of a blocked host leads around the block", async () => {
  const setup = await crawlSetup();
  await block(setup, "blocked.example");
  await block(setup, "xn--mnchen-3ya.example");
  const seeds = ["http://blocked.example./", "https://BLOCKED.example:443/", "http://münchen.example/"];
  const job = await createJob(setup.dependencies, newJob(seeds));
  expect(job).toMatchObject({ status: "completed", counts: { skipped: 3 } });
});

test("a job whose seeds are all of blocked hosts ends at once", async () => {
  const setup = await crawlSetup();
  await block(setup, "blocked.example");
  const pages = await createJob(setup.dependencies, newJob(urls("blocked.example", 2)));
  expect(pages).toMatchObject({ status: "completed", counts: { skipped: 2 } });
  const whole = await createJob(setup.dependencies, newSiteJob("http://blocked.example/"));
  expect(whole).toMatchObject({ status: "failed", error: expect.stringContaining("DOMAIN_BLOCKED") });
});

test("a host that is blocked while a job runs gets no further task, and nothing from the cache", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(urls("a.example", 200)));
  const tasks = await setup.tasks();
  await block(setup, "a.example");
  for (const task of tasks) await setup.crawlTask(task, site);
  expect(await setup.tasks()).toEqual([]);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    counts: { crawled: 100, skipped: 100 },
  });
  const again = await createJob(setup.dependencies, newJob(urls("a.example", 2), { handling: { cache: "use" } }));
  expect(again).toMatchObject({ status: "completed", counts: { crawled: 0, skipped: 2 } });
});
