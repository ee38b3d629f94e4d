/** What a key that is limited to a collection finds, whatever the vectors are kept in. */
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import { api as documentsApi } from "../../../functions/documents-api/handler.ts";
import { api as searchApi } from "../../../functions/search-api/handler.ts";
import { createApiKey } from "../../../shared/access/api-keys.ts";
import { settleJob } from "../../../shared/crawl/jobs/lifecycle.ts";
import { embedTaskSchema } from "../../../shared/knowledge/embedding/embed-task.ts";
import { embedChunks } from "../../../shared/knowledge/embedding/embed-worker.ts";
import { openVectorSide } from "../../../shared/knowledge/search/vector-side.ts";
import { ApiRefusal, createMcpServer } from "../../../shared/mcp/server.ts";
import { loadConfig } from "../../../shared/platform/config.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { callApi } from "../../services/api.ts";
import type { TestAws } from "../../services/index.ts";

const ask = (key: string, method: string, path: string, json?: unknown) =>
  callApi(path.startsWith("/api/v1/search") || path.endsWith("/context") ? searchApi : documentsApi, {
    ...{ method, path, key },
    ...(json === undefined ? {} : { json }),
  });

/** The tools of language models, asking with a key. */
async function modelClient(key: string): Promise<Client> {
  const server = createMcpServer(async (method, path, body) => {
    const answer = await ask(key, method, path, body);
    if (answer.status >= 400) throw new ApiRefusal(String(answer.body.error));
    return answer.body;
  }, "1.0.0");
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(near);
  return client;
}

/** Two collections with five documents each and five in none: by search, facets, counts, contexts and tools. */
export async function findsNothingForeign(sql: Sql, aws: TestAws): Promise<void> {
  const admin = await createApiKey(sql, { ...KEY, scopes: ["admin"] });
  const made = async (name: string | null) => {
    const { body } =
      name === null ? { body: { id: null } } : await ask(admin.key, "POST", "/api/v1/collections", { name });
    const documents = Array.from({ length: 5 }, (_, at) => ({
      content: `# Tides at ${name ?? "driftloose"}\n\nHigh water comes twice a day to the harbour, as note ${at} says.`,
      ...{ url: `https://${name ?? "driftloose"}.example/${at}`, tags: [`tag-${name ?? "driftloose"}`] },
      collection_id: body.id,
    }));
    const stored = await ask(admin.key, "POST", "/api/v1/documents/batch", { documents });
    const ids = stored.body.items.map((each: { document_id: string }) => each.document_id) as string[];
    return { collection: body.id as string, ids };
  };
  const mine = await made("kelpmine");
  const other = await made("foreignwrack");
  const loose = await made(null);
  await embed(sql, aws);
  const { key } = await createApiKey(sql, { ...KEY, collectionIds: [mine.collection] });
  const foreign = ["foreignwrack", "driftloose", other.collection, ...other.ids, ...loose.ids];
  const holdsNothingForeign = (body: unknown) => {
    for (const each of foreign) expect(JSON.stringify(body)).not.toContain(each);
  };

  for (const mode of ["", "/vector", "/keyword"]) {
    const json = { query: "tides harbour high water", min_score: -1 };
    const all = await ask(admin.key, "POST", `/api/v1/search${mode}`, { ...json, limit: 50 });
    expect(all.body.results).toHaveLength(15);
    const { body } = await ask(key, "POST", `/api/v1/search${mode}`, { ...json, limit: 50, facets: FACETS });
    holdsNothingForeign(body);
    expect(body.results.map((each: { document_id: string }) => each.document_id).sort()).toEqual(mine.ids.sort());
    expect(body.total_count).toBe(5);
    const found: string[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await ask(key, "POST", `/api/v1/search${mode}`, { ...json, limit: 2, cursor });
      holdsNothingForeign({ ...page.body, next_cursor: null });
      found.push(...page.body.results.map((each: { document_id: string }) => each.document_id));
      cursor = page.body.next_cursor;
      more = page.body.next_cursor !== null;
    }
    expect(found.sort()).toEqual(mine.ids);
  }

  const client = await modelClient(key);
  const texts = async (name: string, args: Record<string, unknown>) => {
    const answer = await client.callTool({ name, arguments: args });
    return { text: JSON.stringify(answer.content), isError: answer.isError === true };
  };
  const searched = await texts("search", { query: "tides harbour high water" });
  expect(searched.text).toContain("kelpmine");
  holdsNothingForeign(searched);
  holdsNothingForeign(await texts("search", { query: "tides", domains: ["foreignwrack.example"] }));
  holdsNothingForeign((await client.listResources()).resources);
  expect((await texts("read_document", { document_id: mine.ids[0] })).text).toContain("kelpmine");
  for (const document_id of [other.ids[0], loose.ids[0]]) {
    for (const [tool, more] of [["read_document", {}] as const, ["read_section", { position: 0 }] as const]) {
      const answer = await texts(tool, { document_id, ...more });
      expect(answer).toMatchObject({ isError: true, text: expect.not.stringMatching(/foreignwrack|driftloose/) });
    }
  }
  await client.close();
}

const KEY = { name: "test", scopes: ["read" as const], rateLimitRpm: 100_000, expiresAt: null };
const FACETS = ["domain", "language", "collection", "month", "tag"];

async function embed(sql: Sql, aws: TestAws): Promise<void> {
  const vectorSide = await openVectorSide(loadConfig())();
  const log = createLogger({}, "error", () => {});
  for (const message of await aws.receive("embed-high", 0)) {
    await embedChunks({ sql, vectorSide, settleJob, log }, embedTaskSchema.parse(message));
  }
  await vectorSide?.vectors.close();
}
