/** What becomes of a page that goes to the renderer, whatever the renderer does with it. */
import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { readWarcRecord } from "../../../../shared/capture/warc-reader.ts";
import { RetryableError, ThrottledError } from "../../../../shared/platform/errors.ts";
import { RenderError } from "../../../../shared/render/renderer.ts";
import { measuredIn } from "../../../services/measured.ts";
import { pdfFile } from "../../../services/pdf-file.ts";
import { type Site, startSite } from "../../../sites/site.ts";
import { fetchTask } from "../fetch/harness.ts";
import { domOf, fakeRenderer, renderHarness } from "./render-harness.ts";

const SENTENCE = "The tide brings what the river carried down and leaves it along the strand. ";
const SHELL = `<!doctype html><html lang="en"><head><title>Shell</title></head><body>
  <noscript>Enable JavaScript.</noscript><div id="root"></div><script src="/app.js"></script></body></html>`;
const ARTICLE = `<!doctype html><html lang="en"><head><title>Article</title></head><body><main><h1>Article</h1>
  <p>${SENTENCE.repeat(30)}</p></main></body></html>`;
const RENDERED = `<!doctype html><html lang="en"><head><title>Full</title></head><body><main><h1>Full</h1>
  <p>${SENTENCE.repeat(10)}</p><a href="/next">Next</a></main></body></html>`;

async function site(): Promise<Site> {
  const html = (body: string) => ({ headers: { "content-type": "text/html", "x-robots-tag": "noarchive" }, body });
  const started = await startSite({ "/shell": html(SHELL), "/article": html(ARTICLE) });
  onTestFinished(() => started.close());
  return started;
}

const rendered = fakeRenderer(async () => domOf(RENDERED));

test("only what needs a browser goes to it, and the rest is not held up", async () => {
  const { origin } = await site();
  const harness = await renderHarness(rendered);
  const task = fetchTask({ urls: [`${origin}/shell`, `${origin}/article`], config: { render: "auto" } });
  const captures = await harness.fetch.fetch(task);
  expect(captures.map(({ url, rendered }) => [url, rendered])).toEqual([[`${origin}/article`, null]]);
  expect(measuredIn(harness.fetch.logged, "fetch")).toMatchObject({ pages_fetched: 2, rendering: 1 });
  const [shell, ...others] = await harness.tasks();
  expect(others).toEqual([]);
  expect(shell).toMatchObject({ jobId: task.jobId, taskId: task.taskId, urlHash: task.urls[0]?.urlHash });
});

test("a rendered page has its text and links from the DOM, which lies in the archive next to the response", async () => {
  const { origin } = await site();
  const harness = await renderHarness(rendered);
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/shell`], config: { render: "auto" } }));
  for (const task of await harness.tasks()) await harness.render(task);
  expect(measuredIn(harness.fetch.logged, "render")).toEqual({ pages_rendered: 1, page_seconds: [expect.any(Number)] });
  const [capture] = await harness.fetch.captures();
  expect(capture?.extraction).toMatchObject({ title: "Full", links: [`${origin}/next`] });
  expect(capture?.extraction?.text).toContain(SENTENCE.trim());
  expect(capture?.rendered).toMatchObject({
    renderer: "chromium",
    reason: expect.stringMatching(/root is empty/),
    error: null,
  });
  const { objects } = harness.dependencies;
  const response = await readWarcRecord(objects, capture?.warc ?? expect.fail("no response"));
  expect(response.body.toString()).toBe(SHELL);
  const dom = await readWarcRecord(objects, capture?.rendered?.warc ?? expect.fail("no DOM"));
  expect(dom.body.toString()).toBe(RENDERED);
  expect(Object.fromEntries(dom.warcHeaders)).toMatchObject({
    "warc-type": "conversion",
    "warc-refers-to": `<urn:uuid:${capture?.warc?.recordId}>`,
    "warc-target-uri": `${origin}/shell`,
    "content-type": "text/html; charset=utf-8",
  });
});

test("a message that is delivered twice leaves both DOMs in the archive, each where its capture says", async () => {
  const { origin } = await site();
  let opened = 0;
  const harness = await renderHarness(
    fakeRenderer(async () => domOf(RENDERED.replace("Full", "Full ".repeat(++opened)))),
  );
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/shell`], config: { render: "auto" } }));
  for (const task of await harness.tasks()) {
    await harness.render(task);
    await harness.render(task);
  }
  const captures = await harness.fetch.captures();
  expect(captures).toHaveLength(2);
  for (const { rendered } of captures) {
    const pointer = rendered?.warc ?? expect.fail("no DOM");
    const { warcHeaders } = await readWarcRecord(harness.dependencies.objects, pointer);
    expect(warcHeaders.get("warc-record-id")).toBe(`<urn:uuid:${pointer.recordId}>`);
  }
});

test("the renderer gets the document that was archived, the job's headers, cookies, window and actions, and its time limit", async () => {
  const { origin } = await site();
  const seen: unknown[] = [];
  const harness = await renderHarness(
    fakeRenderer(async (document, { signal: _signal, mayLeave: _mayLeave, ...options }) => {
      seen.push(document, options);
      return domOf(RENDERED);
    }),
  );
  const actions = [{ type: "click", selector: "#more" }];
  const cookies = [{ host: "127.0.0.1", name: "s", value: "1" }];
  const browser = { mobile: true, viewport: { width: 500, height: 900 }, actions, cookies };
  const config = { render: "always", page_timeout_ms: 7000, wait_for: "#done", headers: { "x-key": "k" }, ...browser };
  const task = fetchTask({ urls: [`${origin}/shell`], config });
  await harness.fetch.deliver(task);
  for (const each of await harness.tasks()) await harness.render(each);
  expect(seen).toEqual([
    expect.objectContaining({ url: `${origin}/shell`, status: 200, mimeType: "text/html", text: SHELL }),
    {
      jobId: task.jobId,
      waitFor: "#done",
      timeoutMs: 7000,
      headers: { "x-key": "k" },
      window: { width: 500, height: 900, mobile: true },
      actions,
      cookies,
    },
  ]);
});

test("a page of a session has the cookies in the browser, too, each for its path", async () => {
  await using shop = await startSite({
    "/login": {
      body: "<p>hello",
      headers: [
        ["content-type", "text/html"],
        ["set-cookie", "sid=1; Path=/"],
        ["set-cookie", "s=2; Path=/in"],
      ],
    },
    "/shell": { body: SHELL, headers: { "content-type": "text/html" } },
  });
  const seen: unknown[] = [];
  const harness = await renderHarness(
    fakeRenderer(async (_document, { cookies }) => {
      seen.push(cookies);
      return domOf(RENDERED);
    }),
  );
  const cookies = [
    { host: "127.0.0.1", name: "s", value: "0" },
    { host: "a.example", name: "s", value: "9" },
  ];
  const login = fetchTask({ urls: [`${shop.origin}/login`], config: { session: true } });
  await harness.fetch.deliver(login);
  const config = { session: true, render: "always", cookies };
  await harness.fetch.deliver({ ...fetchTask({ urls: [`${shop.origin}/shell`], config }), jobId: login.jobId });
  await harness.fetch.deliver(fetchTask({ urls: [`${shop.origin}/shell`], config }));
  for (const each of await harness.tasks()) await harness.render(each);
  const kept = [
    { host: shop.host, name: "sid", value: "1", path: "/", secure: false },
    { host: shop.host, name: "s", value: "2", path: "/in", secure: false },
  ];
  expect(seen).toEqual([[cookies[1], ...kept], cookies]);
});

describe("a PDF that is to be read", () => {
  const PDF = pdfFile([["The tide brings driftwood."], ["It leaves shells along the strand."]], { title: "Tides" });
  const config = { pdf: "read", include_selectors: [".none"] };
  const sent = (body: Buffer) => ({ headers: { "content-type": "application/pdf" }, body });
  const neverOpened = fakeRenderer(() => expect.fail("a browser opened it"));

  test("becomes a page whose sections are its pages, archived as a conversion", async () => {
    await using files = await startSite({ "/tides.pdf": sent(PDF) });
    const harness = await renderHarness(neverOpened);
    await harness.fetch.deliver(fetchTask({ urls: [`${files.origin}/tides.pdf`], config }));
    for (const task of await harness.tasks()) await harness.render(task);
    const [capture] = await harness.fetch.captures();
    expect(capture).toMatchObject({
      status: 200,
      mimeType: "application/pdf",
      error: null,
      rendered: { reason: "pdf", renderer: "pdfjs", error: null, warc: { key: expect.any(String) } },
    });
    expect(capture?.extraction).toMatchObject({
      title: "Tides",
      text: "Page 1\n\nThe tide brings driftwood.\n\nPage 2\n\nIt leaves shells along the strand.",
      markdown: "## Page 1\n\nThe tide brings driftwood.\n\n## Page 2\n\nIt leaves shells along the strand.",
      sections: [{ heading: "Page 1" }, { heading: "Page 2" }],
    });
    expect(files.paths().filter((path) => path === "/tides.pdf")).toHaveLength(1);
  });

  test("and cannot be read, is delivered as it was fetched, and says why", async () => {
    await using files = await startSite({ "/broken.pdf": sent(Buffer.from("%PDF-1.4 broken")) });
    const harness = await renderHarness(neverOpened);
    await harness.fetch.deliver(fetchTask({ urls: [`${files.origin}/broken.pdf`], config }));
    for (const task of await harness.tasks()) await harness.render(task);
    expect(await harness.fetch.captures()).toMatchObject([
      {
        error: { code: "UNSUPPORTED_TYPE" },
        rendered: { reason: "pdf", warc: null, error: { code: "RENDER_FAILED" } },
      },
    ]);
  });

  test("is not read where nobody asks for it", async () => {
    await using files = await startSite({ "/tides.pdf": sent(PDF) });
    const harness = await renderHarness(neverOpened);
    await harness.fetch.deliver(fetchTask({ urls: [`${files.origin}/tides.pdf`], config: {} }));
    expect(await harness.tasks()).toEqual([]);
    expect(await harness.fetch.captures()).toMatchObject([{ error: { code: "UNSUPPORTED_TYPE" }, rendered: null }]);
  });
});

test("of the DOM is kept what the settings of the job select", async () => {
  const { origin } = await site();
  const harness = await renderHarness(
    fakeRenderer(async () => domOf('<body><main><p class="a">Kept.</p><p>Not kept.</p></main>')),
  );
  const config = { render: "always", include_selectors: [".a"] };
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/shell`], config }));
  for (const task of await harness.tasks()) await harness.render(task);
  const [capture] = await harness.fetch.captures();
  expect(capture?.extraction?.text).toBe("Kept.");
});

test.each([
  ["fails for good", new RenderError("RENDER_TIMEOUT", "too slow"), 1, "RENDER_TIMEOUT"],
  ["crashes at the third try as well", new RenderError("RENDER_CRASHED", "gone"), 3, "RENDER_CRASHED"],
  ["throws what nobody expected", new TypeError("what"), 1, "RENDER_FAILED"],
])("a page whose rendering %s is delivered as it was fetched", async (_what, error, receiveCount, code) => {
  const { origin } = await site();
  const harness = await renderHarness(fakeRenderer(() => Promise.reject(error)));
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/article`], config: { render: "always" } }));
  for (const task of await harness.tasks()) await harness.render(task, receiveCount);
  const [capture] = await harness.fetch.captures();
  expect(capture).toMatchObject({
    status: 200,
    error: null,
    rendered: { reason: "always", warc: null, error: { code } },
  });
  expect(measuredIn(harness.fetch.logged, "render")).toMatchObject({ pages_failed: 1 });
  expect(capture?.extraction?.text).toContain(SENTENCE.trim());
});

describe("a server that renders and", () => {
  const deliveries = async (error: RenderError) => {
    const { origin, host } = await site();
    const harness = await renderHarness(fakeRenderer(() => Promise.reject(error), true));
    await harness.fetch.deliver(fetchTask({ urls: [`${origin}/article`], config: { render: "always" } }));
    const [task = expect.fail("no task")] = await harness.tasks();
    const delays: number[] = [];
    for (let receiveCount = 1; ; receiveCount += 1) {
      const failure: unknown = await harness.render(task, receiveCount).catch((each: unknown) => each);
      if (failure === undefined) break;
      if (!(failure instanceof RetryableError)) throw failure;
      const asked = failure instanceof ThrottledError ? failure.retryAfterMs / 1000 : 0;
      // as the consumer of the queue delays it
      delays.push(Math.min(60, Math.max(asked, 2 ** (receiveCount - 1))));
    }
    const [capture] = await harness.fetch.captures();
    const state = await harness.fetch.dependencies.hosts.read(host);
    return { delays, capture, heldMs: state.hold_until - Date.now() };
  };
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

  test("restarts for two minutes costs no page its rendering", async () => {
    const { delays, capture } = await deliveries(new RenderError("RENDERER_UNAVAILABLE", "nobody there"));
    expect(sum(delays)).toBeGreaterThan(180);
    expect(delays).toEqual(delays.toSorted((a, b) => a - b));
    expect(capture?.rendered?.error?.code).toBe("RENDERER_UNAVAILABLE");
  });

  test("says nothing in time is asked again later and later", async () => {
    const { delays, capture } = await deliveries(new RenderError("RENDER_TIMEOUT", "silence", { retryable: true }));
    expect(delays).toEqual([10, 20, 30, 40]);
    expect(capture?.rendered?.error?.code).toBe("RENDER_TIMEOUT");
  });

  test.each<[number, [string, string][], number]>([
    [429, [["retry-after", "3"]], 3_000],
    [429, [], 5_000],
    [503, [["Retry-After", "4"]], 4_000],
    [503, [], 0],
    [404, [["retry-after", "9"]], 0],
  ])("was answered %i %j by the site leaves the host alone for %i ms", async (status, headers, ms) => {
    const error = new RenderError("RENDER_FAILED", "refused", { siteAnswer: { status, headers } });
    const { capture, heldMs } = await deliveries(error);
    expect(capture).toMatchObject({ status: 200, rendered: { warc: null, error: { code: "RENDER_FAILED" } } });
    expect(Math.max(0, heldMs)).toBeLessThanOrEqual(ms);
    expect(Math.max(0, heldMs)).toBeGreaterThanOrEqual(Math.max(0, ms - 2_500));
  });
});

test("a crash is tried again", async () => {
  const { origin } = await site();
  const harness = await renderHarness(fakeRenderer(() => Promise.reject(new RenderError("RENDER_CRASHED", "gone"))));
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/shell`], config: { render: "always" } }));
  const [task] = await harness.tasks();
  await expect(harness.render(task ?? expect.fail("no task"))).rejects.toThrow(RetryableError);
  expect(await harness.fetch.captures()).toEqual([]);
});

test("a page of a job that was cancelled, or is late, or of a host that was blocked, is not opened", async () => {
  const { origin, host } = await site();
  const harness = await renderHarness(fakeRenderer(() => expect.fail("it was opened")));
  const codes: unknown[] = [];
  const run = async (jobId: string, deadline: number | null): Promise<void> => {
    await harness.fetch.deliver(fetchTask({ urls: [`${origin}/shell`], config: { render: "always" }, jobId }));
    for (const task of await harness.tasks()) await harness.render({ ...task, deadline });
    for (const capture of await harness.fetch.captures()) codes.push([capture.status, capture.rendered?.error?.code]);
  };
  const cancelled = randomUUID();
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/shell`], config: { render: "always" }, jobId: cancelled }));
  await harness.fetch.dependencies.flags.markCancelled(cancelled);
  for (const task of await harness.tasks()) await harness.render(task);
  for (const capture of await harness.fetch.captures()) codes.push([capture.status, capture.rendered?.error?.code]);
  await run(randomUUID(), Date.now() - 1);
  harness.dependencies.hosts = {
    ...harness.fetch.dependencies.hosts,
    read: async (name) => ({ ...(await harness.fetch.dependencies.hosts.read(name)), blocked: name === host }),
  };
  await run(randomUUID(), null);
  expect(codes).toEqual([
    [200, "CANCELLED"],
    [200, "TIMEOUT"],
    [200, "DOMAIN_BLOCKED"],
  ]);
  // no browser was asked, so no time was spent
  expect(measuredIn(harness.fetch.logged, "render")).toEqual({ pages_unwanted: 3 });
});

test("a job that is cancelled while a page is open closes it", async () => {
  const { origin } = await site();
  const opened = Promise.withResolvers<void>();
  const harness = await renderHarness(
    fakeRenderer((_document, { signal }) => {
      opened.resolve();
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(new RenderError("RENDER_STOPPED", "stopped")));
      });
    }),
  );
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/shell`], config: { render: "always" } }));
  const [task] = await harness.tasks();
  const done = harness.render(task ?? expect.fail("no task"));
  await opened.promise;
  await harness.fetch.dependencies.flags.markCancelled(task?.jobId ?? "");
  await done;
  expect((await harness.fetch.captures()).map(({ rendered }) => rendered?.error?.code)).toEqual(["CANCELLED"]);
});

test("nothing of a page leaves on a look older than two seconds, however slow the next one is", async () => {
  const { origin } = await site();
  const opened = Promise.withResolvers<(host: string) => Promise<boolean>>();
  const harness = await renderHarness(
    fakeRenderer((_document, { mayLeave, signal }) => {
      opened.resolve(mayLeave ?? expect.fail("anything may leave"));
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    }),
  );
  const { flags } = harness.fetch.dependencies;
  let now = Date.now();
  let answer = Promise.resolve();
  harness.dependencies.clock = { ...harness.dependencies.clock, now: () => now };
  harness.dependencies.flags = { isCancelled: (id) => answer.then(() => flags.isCancelled(id)) };
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/shell`], config: { render: "always" } }));
  const [task] = await harness.tasks();
  const done = harness.render(task ?? expect.fail("no task"));
  const mayLeave = await opened.promise;
  const { host } = new URL(origin);
  // from here on the looks of the timer get no answer either
  const { promise, resolve } = Promise.withResolvers<void>();
  answer = promise;
  now += 1_999;
  expect(await mayLeave(host)).toBe(true);
  await flags.markCancelled(task?.jobId ?? "");
  now += 1;
  const late = mayLeave(host);
  resolve();
  expect(await late).toBe(false);
  await done;
  expect((await harness.fetch.captures()).map(({ rendered }) => rendered?.error?.code)).toEqual(["CANCELLED"]);
});

test("a page that replaces itself keeps its own text, and what replaces it is a link", async () => {
  const { origin } = await site();
  const harness = await renderHarness(
    fakeRenderer(async () => ({ html: "<html></html>", navigations: [`${origin}/elsewhere`], shortcoming: null })),
  );
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/article`], config: { render: "always" } }));
  for (const task of await harness.tasks()) await harness.render(task);
  const [capture] = await harness.fetch.captures();
  expect(capture?.extraction).toMatchObject({ title: "Article", links: [`${origin}/elsewhere`] });
  expect(capture?.rendered?.error?.code).toBe("RENDER_NAVIGATED");
});

test("a page that its scripts empty keeps the text of the response", async () => {
  const { origin } = await site();
  const harness = await renderHarness(fakeRenderer(async () => domOf("<html><body></body></html>")));
  await harness.fetch.deliver(fetchTask({ urls: [`${origin}/article`], config: { render: "always" } }));
  for (const task of await harness.tasks()) await harness.render(task);
  const [capture] = await harness.fetch.captures();
  expect(capture?.extraction?.title).toBe("Article");
  expect(capture?.rendered).toMatchObject({ error: { code: "RENDER_EMPTY" }, warc: expect.anything() });
});

test("a second delivery of a fetch task asks for nothing twice, while its page waits for the renderer", async () => {
  const { origin, paths } = await site();
  const harness = await renderHarness(rendered);
  const task = fetchTask({ urls: [`${origin}/shell`], config: { render: "always" } });
  await harness.fetch.deliver(task);
  await harness.fetch.deliver(task, { receiveCount: 2 });
  expect(paths()).toEqual(["/shell"]);
  expect(await harness.tasks()).toHaveLength(1);
});

test("a message whose claim is gone fails by name", async () => {
  const harness = await renderHarness(rendered);
  const ids = { jobId: randomUUID(), taskId: randomUUID(), urlHash: "0".repeat(64) };
  await expect(harness.render({ ...ids, claimKey: "captures/none", deadline: null })).rejects.toMatchObject({
    code: "BATCH_MISSING",
  });
});

test("a renderer that asks the site again takes a slot of its host first", async () => {
  const { origin, host } = await site();
  const harness = await renderHarness(fakeRenderer(async () => domOf(RENDERED), true));
  await harness.fetch.deliver(
    fetchTask({ urls: [`${origin}/shell`], config: { render: "always", rate_limit_rps: 1 } }),
  );
  const [task] = await harness.tasks();
  const { hosts } = harness.fetch.dependencies;
  const before = await hosts.read(host);
  await harness.render(task ?? expect.fail("no task"));
  const after = await hosts.read(host);
  expect(after.next_at - before.next_at).toBeGreaterThanOrEqual(1000);
  await harness.fetch.captures();
  // waits longer than a message is delivered: it is sent anew, and no delivery of it has failed
  const sent: unknown[] = [];
  const { queues } = harness.dependencies;
  harness.dependencies.queues = { ...queues, send: async (...message) => void sent.push(message) };
  for (const [holdMs, delayS] of [
    [20_000, 20],
    [300_000, 60],
  ] as const) {
    await hosts.hold(host, Date.now() + holdMs);
    await harness.render(task ?? expect.fail("no task"), 12);
    expect(sent.splice(0)).toEqual([["render", task, expect.toSatisfy((s: number) => s > delayS - 5 && s <= delayS)]]);
  }
  expect(await harness.fetch.captures()).toEqual([]);
});
