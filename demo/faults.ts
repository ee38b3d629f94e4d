/** Lists what the demonstration must have shown and has not, so that `--exit` can fail. */
import type { WarcFile } from "./archive.ts";
import { type Answered, rankOfAnswer, SHOWN_RESULTS } from "./ask.ts";
import type { Crawl, CrawledUrl } from "./crawl-site.ts";
import type { SiteRequest } from "./site-server.ts";

export interface Shown {
  origin: string;
  /** Paths of all pages of the site. */
  pages: readonly string[];
  requests: readonly SiteRequest[];
  crawl: Crawl;
  archive: readonly WarcFile[];
  answers: readonly Answered[];
}

const FORBIDDEN = "/drafts/";
const MISSING = "/guide/upgrading.html";
const FRENCH = "/fr/accueil.html";
const OLD_ADDRESS = "/concepts/robots-txt.html";
const NEW_ADDRESS = "/concepts/robots.html";
const OLD_ENCODING = { path: "/words/strandlines-of-europe.html", word: "Spülsaum" };

export function findFaults(shown: Shown): string[] {
  return [...crawlFaults(shown), ...archiveFaults(shown), ...answerFaults(shown)];
}

function crawlFaults({ origin, pages, requests, crawl }: Shown): string[] {
  const faults: string[] = [];
  const expect = (holds: boolean, otherwise: string) => void (holds || faults.push(otherwise));
  const byPath = new Map(crawl.urls.map((url) => [url.url.slice(origin.length), url]));
  const outcome = (path: string) => describeOutcome(byPath.get(path));

  for (const path of pages.filter((each) => !each.startsWith(FORBIDDEN))) {
    expect(byPath.get(path)?.state === "crawled", `${path} should have been crawled: ${outcome(path)}`);
    const indexed = byPath.get(path)?.document_id != null;
    expect(indexed === (path !== FRENCH), `${path} should ${path === FRENCH ? "not " : ""}be a document`);
  }
  expect(byPath.get(FORBIDDEN)?.error_code === "ROBOTS_DENIED", `${FORBIDDEN} should be denied: ${outcome(FORBIDDEN)}`);
  expect(
    !requests.some(({ path }) => path.startsWith(FORBIDDEN)),
    `${FORBIDDEN} was requested though robots.txt forbids it`,
  );
  expect(byPath.get(MISSING)?.error_code === "HTTP_404", `${MISSING} should be missing: ${outcome(MISSING)}`);
  const moved = byPath.get(OLD_ADDRESS)?.final_url;
  expect(moved === origin + NEW_ADDRESS, `${OLD_ADDRESS} should lead to ${NEW_ADDRESS}, not to ${moved}`);
  const old = byPath.get(OLD_ENCODING.path);
  // a page that was not sent again has no title of its own
  const decoded = old?.not_modified || old?.title?.includes(OLD_ENCODING.word);
  expect(decoded === true, `The title of ${OLD_ENCODING.path} was decoded wrongly: ${old?.title}`);

  const { counts } = crawl.job;
  expect(counts.open === 0, `${counts.open} URLs are still open although the job has ended`);
  expect(
    counts.chunks > counts.documents,
    `${counts.documents} documents should have more chunks than ${counts.chunks}`,
  );
  expect(counts.unembedded_chunks === 0, `${counts.unembedded_chunks} chunks have no vector`);
  return faults;
}

const describeOutcome = (url: CrawledUrl | undefined): string =>
  url === undefined ? "it was not found" : `${url.state}${url.error_code ? ` with ${url.error_code}` : ""}`;

function archiveFaults({ crawl, archive }: Shown): string[] {
  const archived = new Set(archive.flatMap(({ urls }) => urls));
  const lost = crawl.urls.filter(({ url, state }) => state === "crawled" && !archived.has(url));
  return [
    ...(archive.length === 0 ? ["The crawl left no WARC file"] : []),
    ...archive
      .filter(({ records }) => records["warcinfo"] !== 1)
      .map(({ key }) => `${key} should have one warcinfo record`),
    ...lost.map(({ url }) => `${url} was crawled but is in no WARC file`),
  ];
}

function answerFaults({ answers }: Shown): string[] {
  return answers.flatMap((answered) => {
    const { query, answeredBy, sharesNoWord } = answered.question;
    const rank = rankOfAnswer(answered);
    return [
      ...(rank === undefined
        ? [`"${query}" should find ${answeredBy.join(" or ")} among the first ${SHOWN_RESULTS}`]
        : []),
      ...(sharesNoWord && answered.keywordHits > 0
        ? [`"${query}" should share no word with any page, but keywords find ${answered.keywordHits} passages`]
        : []),
    ];
  });
}
