/** What a task tells of its job before its captures. */
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { html, type Route, startSite } from "../../../sites/site.ts";
import { fetchHarness, fetchTask } from "./harness.ts";

const config = { respect_robots_txt: false };

/** Answers when it is let go. */
function held(): { route: Route; answer(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { route: { ...html("<p>x"), after: promise }, answer: resolve };
}

describe("a job's first request", () => {
  it.each(["/page", "/robots.txt"])("is told of while its answer is waited for: %s", async (path) => {
    const { route, answer } = held();
    await using site = await startSite({ [path]: route }, () => html("<p>x"));
    const harness = await fetchHarness();
    const before = Date.now();
    const done = harness.deliver(fetchTask({ urls: [`${site.origin}/page`], announce: true }));
    await expect.poll(async () => [await harness.captures(), harness.notes.length]).toEqual([[], 1]);
    const [note] = harness.notes;
    expect(note?.waits).toBeNull();
    const begunAt = Date.parse(note?.begunAt ?? "");
    expect(begunAt).toBeGreaterThanOrEqual(before);
    expect(begunAt).toBeLessThan(Date.now() - 250);
    answer();
    await done;
    expect(await harness.captures()).toHaveLength(1);
    expect(harness.notes).toHaveLength(1);
  });

  it("needs no message of its own where its captures come soon, or another task tells", async () => {
    await using site = await startSite({}, () => html("<p>x"));
    const harness = await fetchHarness();
    expect(await harness.fetch(fetchTask({ urls: [`${site.origin}/page`], config, announce: true }))).toHaveLength(1);
    const { route, answer } = held();
    await using slow = await startSite({ "/page": route });
    const done = harness.deliver(fetchTask({ urls: [`${slow.origin}/page`], config }));
    await expect.poll(() => slow.paths()).toHaveLength(1);
    answer();
    await done;
    await harness.captures();
    expect(harness.notes).toEqual([]);
  });
});

describe("a host that the whole task waits for", () => {
  it("is told of with its circuit and the time until it closes", async () => {
    await using site = await startSite({}, () => html("<p>x"));
    const harness = await fetchHarness();
    const openedAt = Date.now();
    const item = { pk: `host#${site.host}`, failures: 5, opened_at: openedAt, down_since: openedAt, openings: 1 };
    await harness.aws.dynamo.send(new PutCommand({ TableName: harness.aws.stateTable, Item: item }));
    const urls = Array.from({ length: 9 }, (_, page) => `${site.origin}/${page}`);
    expect(await harness.fetch(fetchTask({ urls, config, announce: true }))).toEqual([]);
    const until = new Date(openedAt + 300_000).toISOString();
    const message = `${site.host} failed 5 times in a row: it is left alone until ${until}`;
    const waits = { host: site.host, code: "CIRCUIT_OPEN", message, until };
    expect(harness.notes).toEqual([{ jobId: expect.any(String), begunAt: null, waits }]);
    expect(site.paths()).toEqual([]);
  });

  it("is told of with the silence that it asked for", async () => {
    await using site = await startSite({}, () => ({ status: 429, headers: { "Retry-After": "120" } }));
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "1" });
    const before = Date.now();
    const urls = Array.from({ length: 3 }, (_, page) => `${site.origin}/${page}`);
    expect(await harness.fetch(fetchTask({ urls, config }))).toHaveLength(1);
    expect(harness.notes).toMatchObject([{ begunAt: null, waits: { host: site.host, code: "RATE_LIMITED" } }]);
    const { message, until } = harness.notes[0]?.waits ?? { message: "", until: "" };
    expect(message).toBe(`${site.host} asked to be left alone until ${until}`);
    expect(Date.parse(until) - before).toBeGreaterThan(119_000);
  });
});
