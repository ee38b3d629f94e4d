import { expect, it, onTestFinished } from "vitest";
import { createUrlGuard } from "../../../shared/access/url-guard.ts";
import { expandPlaceholders } from "../../../shared/harvest/expansion.ts";
import { runProvider } from "../../../shared/harvest/provider-run.ts";
import { brave } from "../../../shared/harvest/providers/brave.ts";
import type { ProviderDialect } from "../../../shared/harvest/providers/dialect.ts";
import { google } from "../../../shared/harvest/providers/google.ts";
import { searxng } from "../../../shared/harvest/providers/searxng.ts";
import { serper } from "../../../shared/harvest/providers/serper.ts";
import { systemClock } from "../../../shared/platform/clock.ts";
import { type ProviderDouble, providerDouble, RESULTS } from "../../services/provider-doubles.ts";

const QUERY = expandPlaceholders({ keywords: ["a"], boolean: "AND", filters: {} }, 0);
const urls = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `https://a.example/${from + index}`);

async function run(dialect: ProviderDialect, want: number, answer: ProviderDouble["answer"]) {
  const double = await providerDouble(answer);
  const client = createUrlGuard({ allowHosts: ["127.0.0.1"] }).dispatcher();
  onTestFinished(async () => {
    double.close();
    await client.destroy();
  });
  const options = {
    client,
    clock: systemClock,
    random: () => 0.5,
    want,
    deadline: Date.now() + 60_000,
    timeoutMs: 30_000,
  };
  const result = await runProvider(dialect, { endpoint: double.url, apiKey: "k", engineId: "e" }, QUERY, options);
  return { ...result, asked: double.asked };
}

it("Google is asked for what is left, ten at a time, from where it stopped", async () => {
  const { asked, ...result } = await run(google, 25, ({ url }) => {
    const start = Number(url.searchParams.get("start"));
    const page = RESULTS.google(...urls(start, Number(url.searchParams.get("num"))));
    return { body: { ...(page.body as object), queries: { nextPage: [{ startIndex: start + 10 }] } } };
  });
  expect(result.urls).toEqual(urls(1, 25));
  expect(asked.map(({ url }) => [url.searchParams.get("start"), url.searchParams.get("num")])).toEqual([
    ["1", "10"],
    ["11", "10"],
    ["21", "5"],
  ]);
});

it("Brave and SearXNG are asked for whole pages", async () => {
  const paged = await run(brave, 30, ({ url }) => {
    const page = RESULTS.brave(...urls(20 * Number(url.searchParams.get("offset")), 20));
    return { body: { ...(page.body as object), query: { more_results_available: true } } };
  });
  expect(paged.urls).toEqual(urls(0, 30));
  expect(paged.asked).toHaveLength(2);
  const searx = await run(searxng, 15, ({ url }) =>
    RESULTS.searxng(...urls(10 * Number(url.searchParams.get("pageno")), 10)),
  );
  expect(searx.urls).toEqual(urls(10, 15));
});

it("Google is asked for no result beyond the hundredth: of start and num together more than 100 is an error", async () => {
  const { asked, ...result } = await run(google, 100, ({ url }) => {
    const [start, num] = [Number(url.searchParams.get("start")), Number(url.searchParams.get("num"))];
    if (start + num > 100) return { status: 400, body: { error: { code: 400, status: "INVALID_ARGUMENT" } } };
    const page = RESULTS.google(...urls(start, num));
    return { body: { ...(page.body as object), queries: { nextPage: [{ startIndex: start + num }] } } };
  });
  expect(result).toMatchObject({ urls: urls(1, 99), error: null });
  expect(asked).toHaveLength(10);
});

it.each([
  [
    "Google",
    google,
    (start: number) => ({ kind: "customsearch#search", items: urls(start, 10).map((link) => ({ link })) }),
  ],
  [
    "Brave",
    brave,
    (start: number) => ({ type: "search", query: null, web: { results: urls(start, 20).map((url) => ({ url })) } }),
  ],
])("%s that does not say whether there is more is asked until there is enough", async (_name, dialect, body) => {
  const { pageSize } = dialect;
  const result = await run(dialect, 3 * pageSize, ({ url }) => {
    const first = url.searchParams.get("start");
    return { body: body(first === null ? pageSize * Number(url.searchParams.get("offset")) : Number(first) - 1) };
  });
  expect(result).toMatchObject({ urls: urls(0, 3 * pageSize), requests: 3, error: null });
});

it.each([
  [serper, 3, [["3", "1"]]],
  [
    serper,
    15,
    [
      ["10", "1"],
      ["10", "2"],
    ],
  ],
  [brave, 5, [["5", "0"]]],
  [
    brave,
    30,
    [
      ["20", "0"],
      ["20", "1"],
    ],
  ],
])("$name is asked for no more than is wanted, and for pages of one size: $1", async (dialect, want, expected) => {
  const { asked } = await run(dialect, want, ({ body, url }) => {
    const size = Number(body?.num ?? url.searchParams.get("count"));
    const page = body === undefined ? Number(url.searchParams.get("offset")) : body.page - 1;
    if (dialect === serper) return RESULTS.serper(...urls(size * page, size));
    const answer = RESULTS.brave(...urls(size * page, size)).body as object;
    return { body: { ...answer, query: { more_results_available: true } } };
  });
  expect(
    asked.map(({ body, url }) => [
      String(body?.num ?? url.searchParams.get("count")),
      String(body?.page ?? url.searchParams.get("offset")),
    ]),
  ).toEqual(expected);
});

it.each<[ProviderDialect, object]>([
  [google, { kind: "customsearch#search", items: null, queries: null }],
  [brave, { type: "search", web: { results: null }, query: null }],
  [brave, { type: "search", web: null, query: { more_results_available: null } }],
  [searxng, { results: [], unresponsive_engines: null }],
])("$name may leave fields without a value", async (dialect, body) => {
  expect(await run(dialect, 10, () => ({ body }))).toMatchObject({ urls: [], error: null });
});

it("a provider that returns its last page again is not asked for ever", async () => {
  const { asked, ...result } = await run(serper, 100, () => RESULTS.serper(...urls(0, 7)));
  expect(result).toMatchObject({ urls: urls(0, 7), requests: 2, error: null });
  expect(asked).toHaveLength(2);
});

it("what came before a fault counts, and the fault is told", async () => {
  const result = await run(serper, 30, ({ body }) =>
    body.page === 1 ? RESULTS.serper(...urls(0, 10)) : { status: 400, body: { message: "Not enough credits" } },
  );
  expect(result).toMatchObject({ urls: urls(0, 10), error: "quota" });
});

it("a query that is too long for one provider fails there alone", async () => {
  const long = expandPlaceholders({ keywords: Array(8).fill("x".repeat(55)), boolean: "AND", filters: {} }, 0);
  expect(() => brave.compile(long, 0)).toThrow(/characters/);
  expect(() => serper.compile(long, 0)).not.toThrow();
});
