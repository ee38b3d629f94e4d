/**
 * Forty neutral queries, and what each provider is asked for them; the expected requests stand in
 * `compiled-queries.txt`.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { expandPlaceholders } from "../../../shared/harvest/expansion.ts";
import { REMOTE_PROVIDERS } from "../../../shared/harvest/providers/registry.ts";
import { checkNeutralQuery } from "../../../shared/harvest/query-schema.ts";

const NOW = Date.UTC(2026, 10, 28, 9);

const filters = (filters: object, keywords = ["climate report"]) => ({ keywords, filters });

const QUERIES: readonly object[] = [
  { keywords: ["climate"] },
  { keywords: ["climate", "report"] },
  { keywords: ["climate report"] },
  { keywords: ["climate report", "2026"], boolean: "AND" },
  { keywords: ["climate", "weather"], boolean: "OR" },
  { keywords: ["climate report", "weather record", "flood"], boolean: "OR" },
  { keywords: ["climate"], boolean: "OR" },
  { keywords: ["C++", "C#", "node.js"] },
  { keywords: ["AND", "or", "not"] },
  { keywords: ["-minus", "site:evil.example", "(x OR y)"] },
  { keywords: ['say "hello"', "O'Brien"] },
  { keywords: ["naïve", "Größe", "日本語", "مناخ"] },
  { keywords: ["100%", "a&b", "x=y", "#tag"] },
  { keywords: ["  spaced   out  "] },
  { keywords: ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"], boolean: "OR" },
  filters({ sites: ["example.com"] }),
  filters({ sites: [".eu"] }),
  filters({ sites: ["Example.COM", ".gov.uk", "who.int"] }),
  filters({ date_after: "{TODAY}" }),
  filters({ date_after: "{YESTERDAY}" }),
  filters({ date_after: "{LAST_WEEK_START}", date_before: "{LAST_WEEK_END}" }),
  filters({ date_after: "{LAST_MONTH_START}", date_before: "{LAST_MONTH_END}" }),
  filters({ date_after: "2025-09-05", date_before: "2025-09-12" }),
  filters({ date_after: "2026-01-01" }),
  filters({ date_after: "2027-01-01", lang: "en" }),
  filters({ date_before: "2020-02-29" }),
  filters({ date_before: "{YESTERDAY}" }),
  filters({ lang: "zh" }),
  filters({ lang: "fr", geo: "ZZ" }),
  filters({ lang: "zh", geo: "TW" }),
  filters({ lang: "pt", geo: "BR" }),
  filters({ lang: "ja", geo: "JP" }),
  filters({ lang: "he", geo: "IL" }),
  filters({ lang: "xx", geo: "US" }),
  filters({ geo: "EU" }),
  filters({ geo: "UK" }),
  filters({ geo: "CA", lang: "sw" }),
  filters({ max_results: 1 }),
  filters({ max_results: 50 }),
  {
    keywords: ["AI regulation", "AI Act"],
    boolean: "OR",
    filters: {
      sites: [".eu", "politico.eu"],
      date_after: "{LAST_WEEK_START}",
      date_before: "{TODAY}",
      lang: "en",
      geo: "EU",
      max_results: 10,
    },
  },
];

const ACCESS = { apiKey: "KEY", engineId: "ENGINE" };

it("compiles each of them for each provider", async () => {
  expect(QUERIES).toHaveLength(40);
  const lines: string[] = [];
  for (const each of QUERIES) {
    const query = expandPlaceholders(checkNeutralQuery(each), NOW);
    const want = query.filters.max_results ?? 10;
    lines.push(`# ${JSON.stringify(each)}`);
    for (const dialect of Object.values(REMOTE_PROVIDERS)) {
      const compiled = dialect.compile(query, NOW);
      const endpoint = dialect.defaultEndpoint ?? "http://searxng.example";
      const { method, url, body } = compiled.call({ ...ACCESS, endpoint }, 0, Math.min(want, dialect.pageSize));
      expect(compiled.queryUsed, dialect.name).not.toMatch(/KEY|ENGINE/);
      const shown = decodeURIComponent(url.search.replaceAll("+", " "));
      lines.push(
        `${dialect.name}: ${method} ${url.pathname}${shown}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`,
      );
    }
    lines.push("");
  }
  await expect(lines.join("\n")).toMatchFileSnapshot(join(import.meta.dirname, "compiled-queries.txt"));
});
