import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { answerMediaRequest } from "../../../../shared/crawl/rendering/media.ts";
import { mediaRequestSchema } from "../../../../shared/crawl/tasks/media-request.ts";
import type { Chromium, OpenOptions } from "../../../../shared/render/chromium/browser.ts";
import { RenderError } from "../../../../shared/render/renderer.ts";
import { slowness } from "../../../services/slowness.ts";
import { html, startSite } from "../../../sites/site.ts";
import { fetchHarness } from "../fetch/harness.ts";

const NO_LIMITS = { rate_limit_rps: undefined, circuit_threshold: undefined, circuit_timeout_s: undefined };

/** A browser in which no page is ever done. */
function endlessBrowser() {
  const opened = Promise.withResolvers<OpenOptions>();
  const chromium: Chromium = {
    pid: undefined,
    refusals: [],
    close: async () => undefined,
    async withPage(_document, options) {
      opened.resolve(options);
      await new Promise((resolve) => options.signal?.addEventListener("abort", resolve, { once: true }));
      throw new RenderError("RENDER_STOPPED", "The page was closed");
    },
  };
  return { chromium, opened: opened.promise };
}

const page = {
  waitFor: null,
  waitSeconds: 0,
  respectRobotsTxt: true,
  window: { width: 1280, height: 720, mobile: false },
  actions: [],
  headers: {},
  cookies: [],
};

test.each([
  { kind: "screenshot", fullPage: true, format: "png" },
  { kind: "pdf" },
  { kind: "execute-js", scripts: ["return 1"] },
] as const)("a block of the host stops it within two seconds, and nothing of the page leaves: $kind", async (what) => {
  await using site = await startSite({ "/": html("<p>a page") });
  const { dependencies } = await fetchHarness();
  const { chromium, opened } = endlessBrowser();
  const request = mediaRequestSchema.parse({ ...page, ...what, url: `${site.origin}/` });
  const answer = answerMediaRequest({ ...dependencies, chromium }, request, 60_000);
  const outcome = expect(answer).rejects.toMatchObject({ status: 403, code: "DOMAIN_BLOCKED" });
  const { mayLeave } = await opened;
  expect(await mayLeave?.(site.host)).toBe(true);
  await dependencies.hosts.applySettings(site.host, { ...NO_LIMITS, blocked: true }, 1);
  const blockedAt = performance.now();
  await outcome;
  expect(performance.now() - blockedAt).toBeLessThan(2_000 * slowness());
  expect(await mayLeave?.(site.host)).toBe(false);
});

test("a block of the host stops it, though the site has not answered yet", async () => {
  const asked = Promise.withResolvers<void>();
  const server = createServer(() => asked.resolve());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { dependencies } = await fetchHarness();
  const { chromium } = endlessBrowser();
  const request = mediaRequestSchema.parse({ ...page, respectRobotsTxt: false, kind: "pdf", url: `http://${host}/` });
  const outcome = expect(answerMediaRequest({ ...dependencies, chromium }, request, 60_000)).rejects.toMatchObject({
    status: 403,
    code: "DOMAIN_BLOCKED",
  });
  await asked.promise;
  await dependencies.hosts.applySettings(host, { ...NO_LIMITS, blocked: true }, 1);
  const blockedAt = performance.now();
  await outcome;
  // the site has 15 s to answer
  expect(performance.now() - blockedAt).toBeLessThan(10_000);
});

test("a block of another host stops what the page loads from there within two seconds, and nothing else", async () => {
  await using site = await startSite({ "/": html("<p>a page") });
  const { dependencies } = await fetchHarness();
  const { chromium, opened } = endlessBrowser();
  const request = mediaRequestSchema.parse({ ...page, kind: "pdf", url: `${site.origin}/` });
  const answer = answerMediaRequest({ ...dependencies, chromium }, request, 60_000);
  const outcome = expect(answer).rejects.toMatchObject({ code: "DOMAIN_BLOCKED" });
  const { mayLeave = expect.fail("anything may leave") } = await opened;
  expect([await mayLeave("cdn.example"), await mayLeave(site.host)]).toEqual([true, true]);
  await dependencies.hosts.applySettings("cdn.example", { ...NO_LIMITS, blocked: true }, 1);
  await expect.poll(() => mayLeave("cdn.example"), { timeout: 2_000 * slowness() }).toBe(false);
  expect([await mayLeave(site.host), await mayLeave("other.example")]).toEqual([true, true]);
  await dependencies.hosts.applySettings(site.host, { ...NO_LIMITS, blocked: true }, 1);
  await outcome;
});
