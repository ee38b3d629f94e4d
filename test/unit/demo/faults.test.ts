import { expect, test } from "vitest";
import type { JobAnswer } from "../../../cli/jobs-api.ts";
import { createTerminal } from "../../../cli/terminal.ts";
import type { Answered } from "../../../demo/ask.ts";
import type { CrawledUrl } from "../../../demo/crawl-site.ts";
import { findFaults, type Shown } from "../../../demo/faults.ts";
import { QUESTIONS } from "../../../demo/questions.ts";
import { reportAnswers, reportArchive, reportCrawl, reportNextSteps } from "../../../demo/report.ts";
import { sitePaths } from "../../../demo/site-server.ts";

const ORIGIN = "http://127.0.0.1:8788";

function crawled(path: string, more: Partial<CrawledUrl> = {}): CrawledUrl {
  return {
    url: ORIGIN + path,
    state: "crawled",
    depth: 1,
    status_code: 200,
    error_code: null,
    title: "A page",
    final_url: ORIGIN + path,
    fetched_at: "2026-01-31T12:00:00.000Z",
    not_modified: false,
    document_id: "0193b5c0-6f3e-7a52-9c1f-3d0e6f2b8a11",
    ...more,
  };
}

const noPage = { final_url: null, document_id: null, title: null };

/** A demonstration in which all went well. */
async function goodRun() {
  const pages = await sitePaths();
  const urls = pages
    .filter((path) => !path.startsWith("/drafts/"))
    .map((path) => {
      if (path === "/fr/accueil.html") return crawled(path, { document_id: null });
      if (path === "/words/strandlines-of-europe.html") return crawled(path, { title: "Spülsaum" });
      return crawled(path);
    });
  urls.push(
    crawled("/concepts/robots-txt.html", { final_url: `${ORIGIN}/concepts/robots.html` }),
    crawled("/drafts/", { ...noPage, state: "skipped", status_code: null, error_code: "ROBOTS_DENIED" }),
    crawled("/guide/upgrading.html", { ...noPage, state: "failed", status_code: 404, error_code: "HTTP_404" }),
  );
  const counts = { discovered: urls.length, open: 0, crawled: urls.length - 2, failed: 1, skipped: 1 };
  const job: JobAnswer = {
    job_id: "0193b5c0-0000-7000-8000-000000000000",
    kind: "site",
    status: "completed",
    stop_reason: "completed",
    error: null,
    waits: [],
    settings: { seeds: [`${ORIGIN}/`], max_pages: 500 },
    counts: { ...counts, documents: 60, chunks: 180, unembedded_chunks: 0 },
    created_at: "2026-01-31T12:00:00.000Z",
    started_at: "2026-01-31T12:00:00.100Z",
    completed_at: "2026-01-31T12:00:10.000Z",
  };
  const archive = [
    {
      key: "warcs/2026/01/31/0193b5c0-0000-7000-8000-000000000000/0193b5c0-0000-7000-8000-000000000001.warc.gz",
      bytes: 123_456,
      records: { warcinfo: 1, request: 60, response: 60 },
      urls: urls.map(({ url }) => url),
    },
  ];
  const answers: Answered[] = QUESTIONS.map((question) => ({
    question,
    keywordHits: 0,
    latencyMs: 12,
    results: [
      {
        url: ORIGIN + question.answeredBy[0],
        title: "A page",
        content: `${"Words of the passage that answers. ".repeat(12)}`,
        score: 0.0164,
        section_header: "A section",
        highlights: [[0, 5]],
      },
    ],
  }));
  const crawl = { job, urls, seconds: { fetching: 3.2, embedding: 9.1 } };
  return { origin: ORIGIN, pages, requests: [{ method: "GET", path: "/", status: 200 }], crawl, archive, answers };
}
type Run = Awaited<ReturnType<typeof goodRun>>;

function find(run: Run, path: string): CrawledUrl {
  const found = run.crawl.urls.find(({ url }) => url === ORIGIN + path);
  if (found === undefined) throw new Error(`no ${path}`);
  return found;
}

test("a run in which all went well has no faults", async () => {
  expect(findFaults(await goodRun())).toEqual([]);
});

const WAYS_TO_FAIL: [string, (run: Run) => unknown, RegExp][] = [
  ["a page is lost", (run) => run.crawl.urls.splice(3, 1), /should have been crawled: it was not found/],
  ["a page fails", (run) => Object.assign(find(run, "/faq.html"), { state: "failed" }), /faq.html should have been/],
  ["a page is no document", (run) => Object.assign(find(run, "/faq.html"), { document_id: null }), /be a document/],
  ["French is indexed", (run) => Object.assign(find(run, "/fr/accueil.html"), { document_id: "x" }), /not be a doc/],
  ["drafts are crawled", (run) => Object.assign(find(run, "/drafts/"), { error_code: null }), /should be denied/],
  [
    "drafts are asked for",
    (run) => run.requests.push({ method: "GET", path: "/drafts/", status: 200 }),
    /was requested/,
  ],
  [
    "the 404 is taken for a page",
    (run) => Object.assign(find(run, "/guide/upgrading.html"), { error_code: null }),
    /missing/,
  ],
  [
    "the redirect is not followed",
    (run) => Object.assign(find(run, "/concepts/robots-txt.html"), { final_url: null }),
    /lead to/,
  ],
  [
    "ISO-8859-1 is read as UTF-8",
    (run) => Object.assign(find(run, "/words/strandlines-of-europe.html"), { title: "Sp�lsaum" }),
    /wrongly/,
  ],
  ["a URL stays open", (run) => Object.assign(run.crawl.job.counts, { open: 1 }), /still open/],
  ["a chunk has no vector", (run) => Object.assign(run.crawl.job.counts, { unembedded_chunks: 2 }), /no vector/],
  ["there is no archive", (run) => run.archive.splice(0), /no WARC file/],
  ["a page is not archived", (run) => run.archive[0]?.urls.shift(), /is in no WARC file/],
  ["a question has no answer", (run) => run.answers[1]?.results.splice(0), /should find/],
  ["words find the wordless answer", (run) => Object.assign(run.answers[2] ?? {}, { keywordHits: 1 }), /share no word/],
];

test.each(WAYS_TO_FAIL)("it is a fault when %s", async (_name, spoil, fault) => {
  const run = await goodRun();
  spoil(run);
  expect(findFaults(run as Shown).join("\n")).toMatch(fault);
});

test("the report fits 80 columns, apart from the paths of files and the key", async () => {
  const run = await goodRun();
  let text = "";
  const terminal = createTerminal({ write: (more: string) => (text += more) }, {});
  reportCrawl(terminal, ORIGIN, run.crawl);
  reportAnswers(terminal, run.answers);
  reportArchive(terminal, run.archive, () => "FILE.warc.gz");
  reportNextSteps(terminal, "http://127.0.0.1:8787", "KEY");
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(text).toContain("HTTP_404: /guide/upgrading.html");
  expect(text).toContain("ROBOTS_DENIED: /drafts/");
});
