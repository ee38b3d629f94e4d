import { expect, test } from "vitest";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site } from "../crawl-setup.ts";

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
  for (const some of [seeds, ...seeds.map((seed) => [seed])]) {
    await expect(createJob(setup.dependencies, newJob(some))).rejects.toMatchObject({ code: "DOMAIN_BLOCKED" });
  }
  const job = await createJob(setup.dependencies, newJob([...seeds, "http://a.example/"]));
  expect(await setup.crawl(site)).toEqual(["http://a.example/"]);
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", counts: { skipped: 3 } });
});

test("a job whose seeds are all of blocked hosts is refused with each reason", async () => {
  const setup = await crawlSetup();
  await setup.sql`
    insert into domain_settings (domain, is_blocked, blocked_reason, revision)
    values ('one.example', true, 'asked us to', 1), ('two.example', true, null, 1)`;
  const seeds = [...urls("one.example", 2), ...urls("two.example", 2)];
  await expect(createJob(setup.dependencies, newJob(seeds))).rejects.toMatchObject({
    status: 403,
    code: "DOMAIN_BLOCKED",
    details: {
      domains: expect.arrayContaining([
        { domain: "one.example", reason: "asked us to" },
        { domain: "two.example", reason: null },
      ]),
    },
  });
  await expect(createJob(setup.dependencies, newSiteJob("http://one.example/"))).rejects.toMatchObject({
    status: 403,
    message: "The domain one.example (asked us to) is blocked",
  });
  expect(await setup.sql`select id from jobs`).toEqual([]);
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
  const seeds = [...urls("a.example", 2), "http://b.example/"];
  const again = await createJob(setup.dependencies, newJob(seeds, { handling: { cache: "use" } }));
  expect(again).toMatchObject({ counts: { crawled: 0, skipped: 2, open: 1 } });
});
