/** Twenty questions about the demonstration's site: what each answer cites is opened, and stands there. */
import { loadBuffer } from "cheerio";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SiteServer, startSiteServer } from "../../../demo/site-server.ts";
import { type Instance, startInstance } from "../../services/instance.ts";

/** null: other pages than the one that is about it rank first with the embedder that comes along. */
const QUESTIONS: readonly (readonly [question: string, answeredBy: string | null])[] = [
  ["How is a redirect recorded in the archive?", "/concepts/redirects.html"],
  ["Why do readers never see a mix of old and new pages?", "/concepts/generations.html"],
  ["What if there is an electricity outage?", "/operations/power-loss.html"],
  ["What is a revisit record?", "/concepts/revisit.html"],
  ["Which pages may a crawl visit?", "/concepts/scope.html"],
  ["How does robots.txt decide what is fetched?", "/concepts/robots.html"],
  ["How fast are requests sent to one host?", null],
  ["What is an embedding?", "/concepts/embeddings.html"],
  ["How are keyword hits and vector hits fused?", "/concepts/hybrid-search.html"],
  ["How is the encoding of a page found?", "/concepts/charsets.html"],
  ["What is in a WARC file?", "/concepts/warc.html"],
  ["When are two URLs the same?", null],
  ["How is a page cut into chunks?", "/concepts/sections-and-chunks.html"],
  ["What does the frontier hold?", "/concepts/frontier.html"],
  ["Which addresses may not be crawled?", null],
  ["What becomes of a message that nobody can handle?", "/operations/dead-letters.html"],
  ["How do I make an API key?", "/api/keys.html"],
  ["How do I crawl my first site?", "/guide/first-crawl.html"],
  ["How is a private host crawled?", "/guide/private-hosts.html"],
  ["Why does the fetch function have no database?", "/architecture/fetch-without-database.html"],
];

interface Citation {
  number: number;
  document_id: string;
  url: string;
  replay_url: string | null;
  text: string;
  start_char: number;
  end_char: number;
}

let instance: Instance;
let site: SiteServer;
beforeAll(async () => {
  site = await startSiteServer();
  instance = await startInstance({ env: { ACCESS__ALLOW_HOSTS: "127.0.0.1", RATE_LIMIT__API_RPM: "100000" } });
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    ...{ url: `${site.origin}/`, max_depth: 10, max_pages: 500, config: { rate_limit_rps: 50 } },
  });
  await instance.waitForJob(job_id);
}, 600_000);
afterAll(async () => {
  await instance?.stop();
  await site?.close();
});

/** Letters and numbers alone: pages break their lines elsewhere, and set their marks otherwise. */
const plain = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();

/** The longest line of a passage. */
const sentenceOf = ({ text }: Citation): string =>
  text.split("\n").reduce((longest, line) => (line.length > longest.length ? line : longest), "");

async function pageAt(url: string): Promise<string> {
  const answer = await fetch(url);
  expect(answer.status, url).toBe(200);
  // a page may be in an old encoding, which its header outranks
  const [, charset] = /charset=([\w-]+)/i.exec(answer.headers.get("content-type") ?? "") ?? [];
  const options = charset === undefined ? {} : { encoding: { transportLayerEncodingLabel: charset } };
  return plain(loadBuffer(Buffer.from(await answer.arrayBuffer()), options).text());
}

test.each(QUESTIONS)("%s", async (query, answeredBy) => {
  const answer = await instance.call<{ context: string; citations: Citation[] }>("POST", "/api/v1/context", { query });
  const { context, citations } = answer;
  expect(citations.length).toBeGreaterThan(0);
  if (answeredBy !== null) expect(citations.map(({ url }) => new URL(url).pathname)).toContain(answeredBy);
  for (const citation of citations) {
    const { number, url, replay_url, document_id, text, start_char, end_char } = citation;
    expect(context).toContain(`[${number}] `);
    expect(context).toContain(text);
    const { content } = await instance.call<{ content: string }>("GET", `/api/v1/documents/${document_id}`);
    expect(content.slice(start_char, end_char)).toBe(text);
    const sentence = plain(sentenceOf(citation));
    expect(sentence.length).toBeGreaterThan(15);
    expect(await pageAt(url), url).toContain(sentence);
    expect(await pageAt(replay_url ?? ""), replay_url ?? "").toContain(sentence);
  }
});
