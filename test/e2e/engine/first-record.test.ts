/** When the first records of a stream arrive, by the clock of the site that answered. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedRuntime } from "../../services/shared-runtime.ts";
import { slowness } from "../../services/slowness.ts";
import { html, type Site, startSite } from "../../sites/site.ts";
import { type Engine, engineOf } from "./engine.ts";

/** On a machine that has time for it. */
const WITHIN_MS = 1_000;
/** A busy machine may hold up one of them, and not each. */
const ATTEMPTS = 8;

let engine: Engine;
let site: Site;
/** When the page that a crawl begins with was answered, epoch ms. */
let answeredAt = 0;
/** Of all other pages. */
let mayAnswer: PromiseWithResolvers<void>;
beforeAll(async () => {
  const links = Array.from({ length: 40 }, (_, page) => `<a href="/later/${page}">${page}</a>`).join(" ");
  const page = html(
    `<!doctype html><html lang="en"><title>First</title><main><p>A page about lighthouses.</p>${links}</main></html>`,
  );
  site = await startSite(
    {
      "/robots.txt": { status: 404 },
      "/first": () => {
        answeredAt = Date.now();
        return page;
      },
    },
    () => ({ ...page, after: mayAnswer.promise }),
  );
  engine = engineOf(await sharedRuntime());
  // the containers of all functions are there
  const job = await engine.store({ seed_urls: [`${site.origin}/first`], max_depth: 0 });
  await engine.instance.waitForJob(job);
  await engine.send("GET", `/jobs/${job}/stream`).then((response) => response.text());
});
afterAll(async () => {
  await engine?.close();
  await site?.close();
});

it.each(["application/x-ndjson", "text/event-stream"])(
  "%s: within a second of the answer of the first page, while all others are still to come",
  async (accept) => {
    const took: number[] = [];
    const inTime: boolean[] = [];
    while (!inTime.includes(true) && took.length < ATTEMPTS) {
      mayAnswer = Promise.withResolvers();
      const slow = slowness();
      const body = {
        seed_urls: [`${site.origin}/first`],
        max_depth: 1,
        max_pages: 40,
        config: { rate_limit_rps: 100 },
      };
      const leave = new AbortController();
      const init = { headers: { accept }, signal: leave.signal };
      const response = await engine.send("POST", "/spider/crawl?result_mode=stream&include=title", body, init);
      const decoder = new TextDecoder();
      let text = "";
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        if (text.includes('"type":"page"')) break;
      }
      const ms = Date.now() - answeredAt;
      took.push(ms);
      inTime.push(ms < WITHIN_MS * Math.max(slow, slowness()));
      expect(text).toContain(`${site.origin}/first`);
      leave.abort();
      mayAnswer.resolve();
    }
    console.info(`${accept}: the first record came after ${took.join(", ")} ms`);
    expect(inTime).toContain(true);
  },
);
