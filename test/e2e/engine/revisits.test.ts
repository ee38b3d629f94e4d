/** Three recrawls of pages that stay the same, over the API, and what the archive holds of them afterwards. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedRuntime } from "../../services/shared-runtime.ts";
import { html, type Site, startSite } from "../../sites/site.ts";
import { type Engine, engineOf, FULL_SPEED } from "./engine.ts";

const RECRAWLS = 3;
const PROFILE = "http://netpreserve.org/warc/1.1/revisit";

interface Row {
  id: number;
  status_code: number;
  revisit_of: number | null;
  payload_digest: string;
  fetched_at: Date;
  warc_key: string;
  warc_offset: number;
  warc_length: number;
  warc_record_id: string;
}

const page = (title: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1><p>${`The ${title} stands by the sea. `.repeat(12)}</p></main></html>`;

let site: Site;
let engine: Engine;
beforeAll(async () => {
  site = await startSite({
    "/tagged": ({ headers }) =>
      headers["if-none-match"] === '"1"' ? { status: 304 } : html(page("lighthouse"), { ETag: '"1"' }),
    "/dated": ({ headers }) =>
      headers["if-modified-since"] === undefined
        ? html(page("pier"), { "Last-Modified": "Mon, 01 Jan 2024 10:00:00 GMT" })
        : { status: 304 },
    "/plain": html(page("harbour wall")),
  });
  engine = engineOf(await sharedRuntime());
});
afterAll(async () => {
  await engine?.close();
  await site?.close();
});

it("each recrawl adds a revisit record that points at the first response, by 304 or by the same payload", async () => {
  const paths = ["/tagged", "/dated", "/plain"];
  const jobs: string[] = [];
  for (let crawl = 0; crawl <= RECRAWLS; crawl += 1) {
    const urls = paths.map((path) => site.origin + path);
    const body = { urls, cache: "bypass", config: FULL_SPEED };
    const { job_id } = await engine.post<{ job_id: string }>("/api/v1/crawl", body);
    await engine.instance.waitForJob(job_id);
    jobs.push(job_id);
  }
  for (const path of paths) {
    const rows = await engine.sql<Row[]>`
      select id, status_code, revisit_of, payload_digest, fetched_at, warc_key, warc_offset, warc_length, warc_record_id
      from captures where url = ${site.origin + path} order by id`;
    const [original, ...revisits] = rows;
    if (original === undefined) throw new Error(`${path} was not captured`);
    expect(original).toMatchObject({ status_code: 200, revisit_of: null });
    expect(revisits).toHaveLength(RECRAWLS);
    const response = await engine.record(original);
    expect(response.warcHeaders.get("warc-type")).toBe("response");
    const unchanged = path === "/plain" ? "identical-payload-digest" : "server-not-modified";
    for (const row of revisits) {
      expect(row).toMatchObject({ revisit_of: original.id, payload_digest: original.payload_digest });
      const { warcHeaders, body } = await engine.record(row);
      expect(Object.fromEntries(warcHeaders)).toMatchObject({
        "warc-type": "revisit",
        "warc-profile": `${PROFILE}/${unchanged}`,
        "warc-refers-to": `<urn:uuid:${original.warc_record_id}>`,
        "warc-refers-to-target-uri": site.origin + path,
        "warc-refers-to-date": response.warcHeaders.get("warc-date"),
        "warc-payload-digest": response.warcHeaders.get("warc-payload-digest"),
      });
      expect(body).toHaveLength(0);
    }
  }
  expect(site.requests.filter(({ headers }) => headers["if-none-match"] !== undefined).length).toBe(RECRAWLS);
  // whoever reads the results of a recrawl sees the page, though the server sent none
  const shown = await engine.results(jobs.at(-1) ?? "", "include=title,content,markdown");
  expect(shown.map(({ title }) => title).toSorted()).toEqual(["harbour wall", "lighthouse", "pier"]);
  for (const { title = "", content, markdown } of shown) {
    expect(content).toBe(page(title));
    expect(markdown).toContain(`The ${title} stands by the sea.`);
  }
});
