import { expect, it } from "vitest";
import { pageGraph } from "../../../sites/page-graph.ts";
import { startSite } from "../../../sites/site.ts";
import { fetchHarness, fetchTask } from "./harness.ts";

it("goes on with exactly what is owed, though a task that is sent again holds only that", async () => {
  await using site = await startSite(pageGraph({ pages: 4, linksPerPage: 1, pageBytes: 500 }));
  const harness = await fetchHarness();
  const whole = fetchTask({ urls: [0, 1, 2, 3].map((page) => `${site.origin}/page/${page}`) });
  const hashes = whole.urls.map((url) => url.urlHash);
  const taken = await harness.dependencies.leases.take(whole.taskId, "a worker that dies");
  if (taken.outcome !== "taken") throw new Error(taken.outcome);
  await taken.lease.record(hashes.slice(0, 2));
  await taken.lease.defer(0);
  // the first of the captures was ingested, the second is still on its way
  const captures = await harness.fetch({ ...whole, urls: whole.urls.slice(1) });
  expect(captures.map((capture) => capture.urlHash)).toEqual(hashes.slice(2));
  expect(site.paths().toSorted()).toEqual(["/page/2", "/page/3"]);
});
