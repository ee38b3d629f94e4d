import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { hostScope } from "../../../../shared/crawl/urls/scope.ts";
import {
  bytesThenClose,
  drip,
  garbage,
  hugeHeaders,
  reset,
  shortBody,
  silence,
  stall,
} from "../../../sites/misbehaviour.ts";
import { html, type Route, redirect, startSite } from "../../../sites/site.ts";
import { fetchHarness, fetchTask } from "./harness.ts";

/** The timeouts that the servers meet which keep a request waiting; all others have time to answer. */
const IMPATIENT: Record<string, { settings?: Record<string, string>; config?: { page_timeout_ms: number } }> = {
  "/silent": { settings: { FETCH__HEADERS_TIMEOUT_MS: "500" } },
  "/stalls": { settings: { FETCH__BODY_IDLE_TIMEOUT_MS: "500" } },
  "/drips": { config: { page_timeout_ms: 5000 } },
};
/** Of the HTTP client, in its own words. */
const CLIENTS_WORDS = /\n|assert|UND_ERR|Headers Timeout Error|Body Timeout Error/;

describe("a server that fails", () => {
  const routes: Record<string, Route> = {
    "/silent": silence(),
    "/stalls": stall("<title>half</title>"),
    "/drips": drip(50),
    "/resets": reset(),
    "/resets-midway": reset("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 900\r\n\r\nsome"),
    "/short": shortBody("<title>short</title>", 500),
    "/garbage": garbage(),
    "/status-099": bytesThenClose("HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nok"),
    "/huge-headers": hugeHeaders(200_000),
    "/404": { status: 404, headers: { "Content-Type": "text/html" }, body: "gone" },
    "/410": { status: 410 },
    "/500": { status: 500, body: "oops" },
    "/503": { status: 503 },
    "/304-unasked": { status: 304 },
    "/fine": html("<title>fine</title><p>fine"),
  };

  it("costs its URL an error code each, retryable where it may pass, and nothing else", async () => {
    await using site = await startSite(routes);
    const patient = await fetchHarness();
    // the circuit would open half-way
    const urls = Object.keys(routes).map((path) => site.origin + path);
    const outcome: Record<string, unknown> = {};
    for (const url of urls) {
      const { settings, config = {} } = IMPATIENT[new URL(url).pathname] ?? {};
      const harness = settings === undefined ? patient : await fetchHarness(settings);
      await harness.dependencies.hosts.recordSuccess(site.host);
      const robots = { respect_robots_txt: false };
      const [capture] = await harness.fetch(fetchTask({ urls: [url], config: { ...robots, ...config } }));
      const { error, truncated, warc } = capture ?? {};
      // for people, not for those who know the client's source code
      expect(error?.message ?? "").not.toMatch(CLIENTS_WORDS);
      outcome[new URL(url).pathname] = [error?.code ?? null, error?.retryable ?? null, truncated, warc !== null];
    }
    expect(outcome).toEqual({
      "/silent": ["HEADERS_TIMEOUT", true, false, false],
      "/stalls": ["BODY_TIMEOUT", true, true, true],
      "/drips": ["BODY_TIMEOUT", true, true, true],
      "/resets": ["CONNECTION_RESET", true, false, false],
      "/resets-midway": ["CONNECTION_RESET", true, true, true],
      "/short": ["LENGTH_MISMATCH", true, true, true],
      "/garbage": ["INVALID_RESPONSE", false, false, false],
      "/status-099": ["INVALID_RESPONSE", false, false, false],
      "/huge-headers": ["HEADERS_TOO_LARGE", false, false, false],
      "/404": ["HTTP_404", false, false, true],
      "/410": ["HTTP_410", false, false, true],
      "/500": ["HTTP_500", true, false, true],
      "/503": ["HTTP_503", true, false, true],
      "/304-unasked": ["HTTP_304", false, false, true],
      "/fine": [null, null, false, true],
    });
  });

  it("has the whole page_timeout_ms that a job names, whatever the deployment allows for headers and pauses", async () => {
    const late: Route = {
      async raw(socket) {
        await setTimeout(2_000);
        socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>late</title>");
        await setTimeout(2_000);
        socket.end("<p>and slow");
      },
    };
    await using site = await startSite({ "/late": late });
    const harness = await fetchHarness({ FETCH__HEADERS_TIMEOUT_MS: "300", FETCH__BODY_IDLE_TIMEOUT_MS: "300" });
    const fetched = async (config: object) =>
      (
        await harness.fetch(
          fetchTask({ urls: [`${site.origin}/late`], config: { respect_robots_txt: false, ...config } }),
        )
      )[0]?.error?.code;
    expect(await fetched({})).toBe("HEADERS_TIMEOUT");
    expect(await fetched({ page_timeout_ms: 20_000 })).toBeUndefined();
  });

  it("half-way leaves what came in the archive, marked as cut", async () => {
    await using site = await startSite({ "/stalls": stall("came this far"), "/short": shortBody("and this", 99) });
    const harness = await fetchHarness({ FETCH__BODY_IDLE_TIMEOUT_MS: "500" });
    const [stalled, short] = await harness.fetch(
      fetchTask({ urls: [`${site.origin}/stalls`, `${site.origin}/short`] }),
    );
    const first = stalled && (await harness.record(stalled));
    expect(first?.body.toString()).toBe("came this far");
    expect(first?.warcHeaders.get("warc-truncated")).toBe("time");
    const second = short && (await harness.record(short));
    expect(second?.body.toString()).toBe("and this");
    expect(second?.warcHeaders.get("warc-truncated")).toBe("disconnect");
    expect(second?.httpHeaders).toContainEqual(["X-Archive-Orig-Content-Length", "99"]);
    expect(second?.httpHeaders.map(([name]) => name.toLowerCase())).not.toContain("content-length");
    expect(stalled?.extraction).toBeNull();
  });

  it("to be there at all is named", async () => {
    const site = await startSite();
    await site.close();
    const harness = await fetchHarness();
    const config = { respect_robots_txt: false };
    const [refused] = await harness.fetch(fetchTask({ urls: [`${site.origin}/`], config }));
    expect(refused).toMatchObject({ status: 0, error: { code: "CONNECT_FAILED", retryable: true }, warc: null });
    const harnessWithNames = await fetchHarness({ ACCESS__ALLOW_HOSTS: "*.invalid" });
    const [unknown] = await harnessWithNames.fetch(fetchTask({ urls: ["http://no-such-name.invalid/"], config }));
    expect(unknown?.error?.code).toBe("DNS_FAILURE");
    const [tls] = await (async () => {
      await using plain = await startSite({ "/": html("x") });
      return await harness.fetch(fetchTask({ urls: [plain.origin.replace("http:", "https:")], config }));
    })();
    expect(tls?.error).toMatchObject({ code: "TLS_ERROR", retryable: false });
  });
});

describe("a redirect", () => {
  it("is followed, recorded and archived hop by hop", async () => {
    await using site = await startSite({
      "/a": redirect("/b#fragment", 301),
      "/b": redirect("c?x=1", 307),
      "/c?x=1": html("<title>there</title>"),
    });
    const harness = await fetchHarness();
    const [capture] = await harness.fetch(fetchTask({ urls: [`${site.origin}/a`] }));
    expect(capture).toMatchObject({
      url: `${site.origin}/a`,
      finalUrl: `${site.origin}/c?x=1`,
      redirects: [
        { url: `${site.origin}/a`, status: 301 },
        { url: `${site.origin}/b`, status: 307 },
      ],
      status: 200,
      extraction: { title: "there" },
    });
    const record = capture && (await harness.record(capture));
    expect(record?.warcHeaders.get("warc-target-uri")).toBe(`${site.origin}/c?x=1`);
  });

  it("keeps its cookies to the end of the chain, as a first visit does, and each URL is a first visit", async () => {
    await using site = await startSite({
      "/robots.txt": { status: 404 },
      "/s": ({ headers }) =>
        headers.cookie === "mine=1; seen=yes" ? html("<title>there</title>") : redirect("/hop", 302),
      "/hop": { status: 302, headers: { Location: "/s", "Set-Cookie": "seen=yes; Path=/; HttpOnly" } },
      "/other": html("<title>other</title>"),
    });
    const harness = await fetchHarness();
    const urls = [`${site.origin}/s`, `${site.origin}/other`];
    const [first, other] = await harness.fetch(fetchTask({ urls, config: { headers: { Cookie: "mine=1" } } }));
    expect(first).toMatchObject({ finalUrl: urls[0], status: 200, error: null, extraction: { title: "there" } });
    expect(first?.redirects.map(({ url }) => new URL(url).pathname)).toEqual(["/s", "/hop"]);
    expect(other?.extraction?.title).toBe("other");
    const cookies = site.requests.map(({ path, headers }) => `${path} ${headers.cookie}`);
    expect(cookies.filter((each) => !each.startsWith("/robots")).toSorted()).toEqual([
      "/hop mine=1",
      "/other mine=1",
      "/s mine=1",
      "/s mine=1; seen=yes",
    ]);
  });

  it("that goes wrong has a code each", async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 12 }, (_, hop): [string, Route] => [`/hop/${hop}`, redirect(`/hop/${hop + 1}`)]),
    );
    await using elsewhere = await startSite({ "/": html("elsewhere") });
    await using site = await startSite({
      ...chain,
      "/loop": redirect("/loop2"),
      "/loop2": redirect("/loop"),
      "/self": redirect("/self"),
      "/nowhere": { status: 302 },
      "/malformed": redirect("http://[::1"),
      "/script": redirect("javascript:alert(1)"),
      "/private": redirect("http://169.254.169.254/latest/meta-data"),
      "/decimal": redirect("http://2852039166/"),
      "/long": redirect(`/${"x".repeat(3000)}`),
      "/elsewhere": redirect(elsewhere.origin),
      "/to-forbidden": redirect("/forbidden"),
      "/robots.txt": { body: "User-agent: *\nDisallow: /forbidden" },
    });
    const harness = await fetchHarness();
    const paths =
      "/hop/0 /hop/2 /loop /self /nowhere /malformed /script /private /decimal /long /elsewhere /to-forbidden".split(
        " ",
      );
    const task = fetchTask({ urls: paths.map((path) => site.origin + path), scope: hostScope(site.host) });
    const captures = await harness.fetch(task);
    expect(captures.map(({ url, error }) => [new URL(url).pathname, error?.code])).toEqual([
      ["/hop/0", "TOO_MANY_REDIRECTS"],
      ["/hop/2", "HTTP_404"],
      ["/loop", "REDIRECT_LOOP"],
      ["/self", "REDIRECT_LOOP"],
      ["/nowhere", "INVALID_REDIRECT"],
      ["/malformed", "INVALID_REDIRECT"],
      ["/script", "INVALID_REDIRECT"],
      ["/private", "URL_BLOCKED"],
      ["/decimal", "URL_BLOCKED"],
      ["/long", "INVALID_REDIRECT"],
      ["/elsewhere", "OUT_OF_SCOPE"],
      ["/to-forbidden", "ROBOTS_DENIED"],
    ]);
    expect(elsewhere.requests).toEqual([]);
    expect(site.paths()).not.toContain("/forbidden");
    expect(captures.find(({ url }) => url.endsWith("/hop/0"))?.redirects).toHaveLength(11);
    const [followed] = await harness.fetch(fetchTask({ urls: [`${site.origin}/elsewhere`] }));
    expect(followed).toMatchObject({ finalUrl: `${elsewhere.origin}/`, error: null });
    expect(elsewhere.paths(true)).toEqual(["/robots.txt", "/"]);
  });
});

describe("a recrawl", () => {
  it("asks with the validators it knows, and records that nothing changed", async () => {
    await using site = await startSite({
      "/etag": (request) =>
        request.headers["if-none-match"] === '"v1"'
          ? { status: 304, headers: { ETag: '"v1"' } }
          : html("etag", { ETag: '"v1"' }),
      "/same": html("<p>same bytes"),
      "/changed": (() => {
        let visits = 0;
        return () => html(`<p>visit ${visits++}`);
      })(),
    });
    const harness = await fetchHarness();
    const urls = ["/etag", "/same", "/changed"].map((path) => site.origin + path);
    const before = await harness.fetch(fetchTask({ urls }));
    const again = fetchTask({
      urls: before.map((capture) => ({
        url: capture.url,
        prior: {
          etag: capture.headers.find(([name]) => name === "etag")?.[1] ?? null,
          lastModified: null,
          captureId: null,
          payloadDigest: capture.payloadDigest,
          recordId: capture.warc?.recordId ?? null,
          url: capture.finalUrl,
          fetchedAt: capture.fetchedAt,
        },
      })),
    });
    const [etag, same, changed] = await harness.fetch(again);
    expect(etag).toMatchObject({
      status: 304,
      notModified: true,
      error: null,
      payloadDigest: before[0]?.payloadDigest,
    });
    expect(same).toMatchObject({ status: 200, notModified: false, error: null });
    expect(same?.extraction?.text).toBe("same bytes");
    const records = await Promise.all([etag, same, changed].map((capture) => capture && harness.record(capture)));
    expect(records.map((record) => record?.warcHeaders.get("warc-type"))).toEqual(["revisit", "revisit", "response"]);
    expect(records[0]?.warcHeaders.get("warc-profile")).toMatch(/server-not-modified$/);
    expect(records[1]?.warcHeaders.get("warc-profile")).toMatch(/identical-payload-digest$/);
    expect(records[1]?.warcHeaders.get("warc-refers-to")).toBe(`<urn:uuid:${before[1]?.warc?.recordId}>`);
    expect(records[1]?.warcHeaders.get("warc-refers-to-date")).toBe(before[1]?.fetchedAt);
    expect(records[1]?.body).toHaveLength(0);
  });

  it("takes a 304 that tells the length of what it does not send", async () => {
    await using site = await startSite({
      "/": {
        raw: (socket) => void socket.write('HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\nContent-Length: 999\r\n\r\n'),
      },
    });
    const harness = await fetchHarness();
    const url = `${site.origin}/`;
    const known = { recordId: null, payloadDigest: `sha256:${"0".repeat(64)}`, fetchedAt: new Date(0).toISOString() };
    const prior = { ...known, captureId: null, url, etag: '"v1"', lastModified: null };
    const [capture] = await harness.fetch(fetchTask({ urls: [{ url, prior }] }));
    expect(capture).toMatchObject({ status: 304, notModified: true, error: null, truncated: false });
    expect(site.paths()).toEqual(["/"]);
    const record = capture && (await harness.record(capture));
    expect(record?.warcHeaders.get("warc-type")).toBe("revisit");
  });
});
