import { expect, test } from "vitest";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { newJob, page } from "../../crawl/crawl-setup.ts";
import { resultsSetup } from "./results-setup.ts";

test("a job that is not to be indexed archives its pages, and leaves what is searchable as it was", async () => {
  const setup = await resultsSetup();
  const urls = ["http://a.example/1", "http://a.example/2"];
  await createJob(setup.dependencies, newJob(urls));
  await setup.serve(() => ({ body: page("Searchable") }));
  const searchable = () => setup.sql`select id, url, title, updated_at from documents_active order by url`;
  const before = await searchable();
  expect(before).toHaveLength(2);

  const job = await createJob(setup.dependencies, newJob(urls, { handling: { index: false } }));
  const error = { code: "HTTP_404", message: "The server answered 404", retryable: false };
  await setup.serve((url) => (url.endsWith("1") ? { body: page("Another") } : { body: "", status: 404, error }));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    counts: { crawled: 1, failed: 1, documents: 0, chunks: 0 },
  });
  expect(await searchable()).toEqual(before);
  const pages = await setup.pages(job.job_id);
  expect(pages.find((each) => each.page.url === urls[0])?.page).toMatchObject({
    title: "Another",
    markdown: expect.stringContaining("# Another"),
    content: page("Another"),
  });
});
