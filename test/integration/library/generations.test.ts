import { describe, expect, test } from "vitest";
import { readJob } from "../../../shared/crawl/jobs/views.ts";
import { createJob, type NewJob } from "../../../shared/crawl/submit/create-job.ts";
import { endOldGenerations, removeUnseenDocuments } from "../../../shared/knowledge/documents/maintenance.ts";
import { deleteDocuments, restoreDocument, tagDocuments } from "../../../shared/library/change-documents.ts";
import { compareGenerations } from "../../../shared/library/generation-diff.ts";
import { activateAgain, listGenerations, readGeneration } from "../../../shared/library/generations.ts";
import { connectDatabase } from "../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../shared/platform/ids.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site, siteOf } from "../crawl/crawl-setup.ts";

const BASE = "http://a.example";
const fan = (count: number) => Array.from({ length: count }, (_, at) => `/${at}`);
const edition = (name: string, count: number): Site =>
  siteOf(BASE, Object.fromEntries(["/", ...fan(count)].map((path) => [path, page(`${name} ${path}`, fan(count))])));

async function library() {
  const setup = await crawlSetup();
  const dependencies = { ...setup.dependencies, vectors: async () => null, limit: null };
  const { sql } = setup;
  return {
    ...setup,
    library: dependencies,
    async crawlSite(name: string, count: number, overrides: Partial<NewJob> = {}): Promise<string> {
      const job = await createJob(setup.dependencies, newSiteJob(`${BASE}/`, overrides));
      await setup.crawl(edition(name, count));
      expect((await readJob(sql, job.job_id))?.status).toBe("completed");
      const [row] = await sql<{ id: string }[]>`select generation_id as id from jobs where id = ${job.job_id}`;
      return row?.id ?? "";
    },
    async titles(): Promise<string[]> {
      const rows = await sql<{ title: string }[]>`select title from documents_active order by url`;
      return rows.map(({ title }) => title);
    },
    async idOf(title: string): Promise<string> {
      const [row] = await sql<{ id: string }[]>`select id from documents_active where title = ${title}`;
      return row?.id ?? "";
    },
    async maintain(kept: number): Promise<number> {
      await endOldGenerations(sql, kept);
      return await removeUnseenDocuments(sql, null, () => true, 0);
    },
  };
}

describe("going back", () => {
  test("shows the generation before, and forward the one after; readers see no mix and no empty moment", async () => {
    const all = await library();
    const [old, young] = [await all.crawlSite("old", 3), await all.crawlSite("new", 2)];
    const reader = connectDatabase({ url: all.databaseUrl, poolSize: 1 });
    const seen = new Set<string>();
    let done = false;
    const reading = (async () => {
      while (!done) {
        const rows = await reader<{ edition: string; pages: number }[]>`
          select split_part(title, ' ', 1) as edition, count(*)::int as pages from documents_active group by 1`;
        seen.add(JSON.stringify(rows));
      }
    })();
    for (let turn = 0; turn < 10; turn++) {
      expect(await activateAgain(all.library, old)).toMatchObject({ state: "active", visible_documents: 4 });
      expect(await activateAgain(all.library, young)).toMatchObject({ state: "active", visible_documents: 3 });
    }
    done = true;
    await reading;
    await reader.end();
    const whole = [[{ edition: "old", pages: 4 }], [{ edition: "new", pages: 3 }]].map((each) => JSON.stringify(each));
    expect([...seen].filter((each) => !whole.includes(each))).toEqual([]);
    expect(await all.titles()).toEqual(["new /", "new /0", "new /1"]);
  });

  test("leaves what was deleted deleted, and brings back what was restored meanwhile", async () => {
    const all = await library();
    const old = await all.crawlSite("old", 2);
    const gone = await all.idOf("old /0");
    await deleteDocuments(all.library, [gone]);
    const young = await all.crawlSite("new", 2);
    const [forGood, later] = [await all.idOf("new /1"), await all.idOf("new /")];
    expect(await all.titles()).toEqual(["new /", "new /1"]);
    await deleteDocuments(all.library, [forGood], true);
    await deleteDocuments(all.library, [later]);
    await activateAgain(all.library, old);
    expect(await all.titles()).toEqual([]);
    await restoreDocument(all.library, gone);
    expect(await all.titles()).toEqual(["old /0"]);
    await activateAgain(all.library, young);
    expect(await all.titles()).toEqual(["new /0"]);
  });

  test("a crawl brings deleted pages back where that is asked for, and only then", async () => {
    const all = await library();
    await all.crawlSite("old", 1);
    await deleteDocuments(all.library, [await all.idOf("old /0")]);
    await all.crawlSite("new", 1);
    expect(await all.titles()).toEqual(["new /"]);
    await all.crawlSite("asked", 1, { handling: { restore_deleted: true } });
    expect(await all.titles()).toEqual(["asked /", "asked /0"]);
  });

  test("keeps the tags that people gave, not those of the crawl", async () => {
    const all = await library();
    const old = await all.crawlSite("old", 1, { tags: ["first"] });
    await tagDocuments(all.library, [await all.idOf("old /")], { add: ["before"] });
    await all.crawlSite("new", 1, { tags: ["second"] });
    await tagDocuments(all.library, [await all.idOf("new /")], { add: ["by hand"] });
    await activateAgain(all.library, old);
    const tags = await all.sql<{ title: string; tags: string[] }[]>`
      select d.title, array_agg(t.name order by t.name) as tags
      from documents_active d join document_tags dt on dt.document_id = d.id join tags t on t.id = dt.tag_id
      group by 1 order by 1`;
    expect([...tags]).toEqual([
      { title: "old /", tags: ["before", "by hand", "first"] },
      { title: "old /0", tags: ["first"] },
    ]);
  });

  test("of given pages replaces these alone", async () => {
    const all = await library();
    const site = await all.crawlSite("old", 1);
    await createJob(all.dependencies, newJob([`${BASE}/0`]));
    await all.crawl(edition("page", 1));
    expect(await all.titles()).toEqual(["old /", "page /0"]);
    await activateAgain(all.library, site);
    expect(await all.titles()).toEqual(["old /", "old /0"]);
    const [pages] = await listGenerations(all.sql, { host: "a.example" }, { limit: 1, after: undefined });
    expect(pages).toMatchObject({ is_whole: false, state: "kept", documents: 1, visible_documents: 0 });
    await activateAgain(all.library, pages?.id ?? "");
    expect(await all.titles()).toEqual(["old /", "page /0"]);
  });

  test("is refused clearly where there is nothing to go back to", async () => {
    const all = await library();
    const old = await all.crawlSite("old", 1);
    await all.crawlSite("new", 1);
    await all.maintain(0);
    await expect(activateAgain(all.library, old)).rejects.toMatchObject({ status: 409, code: "GENERATION_CLEANED" });
    await expect(activateAgain(all.library, uuidv7())).rejects.toMatchObject({ status: 404, code: "NOT_FOUND" });
    const running = await createJob(all.dependencies, newSiteJob("http://b.example/"));
    const generationOf = async (jobId: string) =>
      (await all.sql<{ id: string }[]>`select generation_id as id from jobs where id = ${jobId}`)[0]?.id ?? "";
    const unfinished = await generationOf(running.job_id);
    await expect(activateAgain(all.library, unfinished)).rejects.toMatchObject({ code: "GENERATION_RUNNING" });
    await all.sql`update jobs set status = 'failed' where id = ${running.job_id}`;
    await expect(activateAgain(all.library, unfinished)).rejects.toMatchObject({ code: "GENERATION_FAILED" });
    expect(await all.titles()).toEqual(["new /", "new /0"]);
  });
});

test("the last generations of a site stay as many as are to be kept", async () => {
  const all = await library();
  const ids: string[] = [];
  for (const name of ["one", "two", "three"]) ids.push(await all.crawlSite(name, 1));
  const states = async () => {
    const found = await listGenerations(all.sql, { host: "a.example" }, { limit: 10, after: undefined });
    return found.map(({ state, documents }) => `${state} ${documents}`);
  };
  expect(await all.maintain(2)).toBe(0);
  expect(await states()).toEqual(["active 2", "kept 2", "kept 2"]);
  // the one that was gone back to is the last one
  await activateAgain(all.library, ids[0] as string);
  expect(await all.maintain(1)).toBe(2);
  expect(await states()).toEqual(["kept 2", "cleaned 0", "active 2"]);
  expect(await all.titles()).toEqual(["one /", "one /0"]);
  expect(await readGeneration(all.sql, ids[2] as string)).toMatchObject({ hosts: ["a.example"], is_whole: true });
});

test("what changed between two generations is told page by page, with lines", async () => {
  const all = await library();
  const same = { "/same": page("same") };
  const crawl = async (pages: Record<string, string>) => {
    const job = await createJob(all.dependencies, newSiteJob(`${BASE}/`));
    await all.crawl(siteOf(BASE, { "/": page("top", Object.keys(pages)), ...pages }));
    const [row] = await all.sql<{ id: string }[]>`select generation_id as id from jobs where id = ${job.job_id}`;
    return row?.id ?? "";
  };
  const before = await crawl({ ...same, "/gone": page("gone"), "/edited": page("edited") });
  const edited = page("edited").replace("<h2>", "<p>The ferry leaves at noon.</p><h2>");
  const after = await crawl({ ...same, "/come": page("come"), "/edited": edited });
  const whole = await compareGenerations(all.sql, [before, after], { limit: 10, after: undefined, withText: true });
  expect(Object.fromEntries(whole.map(({ url, change }) => [new URL(url).pathname, change]))).toEqual({
    "/gone": "removed",
    "/edited": "changed",
    "/come": "added",
  });
  const lines = whole.flatMap(({ difference }) => difference?.hunks.flatMap((hunk) => hunk.lines) ?? []);
  expect(lines.filter(([mark]) => mark !== "=")).toEqual([["+", "The ferry leaves at noon."]]);
  const first = await compareGenerations(all.sql, [before, after], { limit: 1, after: undefined, withText: false });
  expect(first).toHaveLength(2);
  const rest = { limit: 10, after: first[0]?.url_hash, withText: false };
  expect(await compareGenerations(all.sql, [before, after], rest)).toHaveLength(2);
});
