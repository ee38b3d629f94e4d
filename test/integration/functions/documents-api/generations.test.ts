import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/documents-api/handler.ts";
import { activateGeneration, rememberGeneration } from "../../../../shared/knowledge/documents/generations.ts";
import { sha256, uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi({ EMBEDDER__PROVIDER: "none" });
});
afterAll(() => setup.close());

const call = (method: string, path: string, key = setup.keys.write) =>
  callApi(api, { method, path: `/api/v1${path}`, key });

/** A crawl of a.example that has ended, with these texts. */
async function crawled(texts: Record<string, string>): Promise<string> {
  const { sql } = setup.database;
  const [jobId, generationId] = [uuidv7(), uuidv7()];
  await sql`
    insert into jobs (id, kind, status, generation_id, settings, completed_at)
    values (${jobId}, 'site', 'completed', ${generationId}, '{}', now())`;
  for (const [path, content] of Object.entries(texts)) {
    const url = `https://a.example${path}`;
    await sql`
      insert into documents (id, generation_id, job_id, url, url_hash, domain, content, markdown, content_hash, sections,
        language, crawled_at)
      values (${uuidv7()}, ${generationId}, ${jobId}, ${url}, ${sha256(url)}, 'a.example', ${content}, '',
        ${sha256(content)}, '[]', 'en', now())`;
  }
  await sql.begin(async (tx) => {
    const target = { jobId, generationId, collectionId: null, wholeHosts: ["a.example"], onlyNewer: false };
    await activateGeneration(tx, target);
    await rememberGeneration(tx, target);
  });
  return generationId;
}

it("lists the generations of a host, goes back to one, and tells what changed", async () => {
  const old = await crawled({ "/": "Low tide.", "/gone": "Gone." });
  const young = await crawled({ "/": "High tide.", "/come": "Come." });
  const first = await call("GET", "/generations?host=a.example&limit=1");
  expect(first.body).toMatchObject({
    items: [{ id: young, state: "active", is_whole: true, hosts: ["a.example"], documents: 2, visible_documents: 2 }],
    has_more: true,
  });
  const second = await call("GET", `/generations?host=a.example&limit=1&cursor=${first.body.next_cursor}`);
  expect(second.body).toMatchObject({ items: [{ id: old, state: "kept", visible_documents: 0 }], next_cursor: null });
  expect((await call("GET", "/generations?host=b.example")).body.items).toEqual([]);

  expect(await call("POST", `/generations/${old}/activate`, setup.keys.read)).toMatchObject({ status: 403 });
  expect(await call("POST", `/generations/${old}/activate`)).toMatchObject({
    status: 200,
    body: { id: old, state: "active", visible_documents: 2 },
  });
  const urls = async () => (await call("GET", "/documents")).body.items.map(({ url }: { url: string }) => url).sort();
  expect(await urls()).toEqual(["https://a.example/", "https://a.example/gone"]);
  expect((await call("GET", `/generations/${young}`)).body).toMatchObject({ state: "kept" });

  const changes: { url: string; change: string; difference: unknown }[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await call("GET", `/generations/${old}/diff/${young}?text=true&limit=2${cursor}`);
    changes.push(...body.items);
    if (!body.has_more) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  const byPath = Object.fromEntries(changes.map((each) => [new URL(each.url).pathname, each]));
  expect(byPath).toMatchObject({
    "/": { change: "changed", difference: { added_lines: 1, removed_lines: 1, hunks: [{ lines: expect.any(Array) }] } },
    "/gone": { change: "removed", difference: null, to_document: null },
    "/come": { change: "added", difference: null, from_document: null },
  });
});

it("refuses what is none, and cursors of other lists", async () => {
  const none = uuidv7();
  for (const path of [`/generations/${none}`, `/generations/${none}/diff/${none}`]) {
    expect(await call("GET", path)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  }
  expect(await call("POST", `/generations/${none}/activate`)).toMatchObject({ status: 404 });
  const cursor = Buffer.from("12").toString("base64url");
  expect((await call("GET", `/generations?cursor=${cursor}`)).status).toBe(400);
});
