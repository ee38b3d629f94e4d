import { describe, expect, test, vi } from "vitest";
import { settleJob } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { jobSettingsSchema } from "../../../../shared/crawl/settings/job-settings.ts";
import { ANYWHERE } from "../../../../shared/crawl/urls/scope.ts";
import type { Embedder, EmbedderDescriptor } from "../../../../shared/knowledge/embedders/embedder.ts";
import {
  type EmbedDependencies,
  embedChunks,
  MOST_ATTEMPTS,
} from "../../../../shared/knowledge/embedding/embed-worker.ts";
import { createSqliteVectorStore } from "../../../../shared/knowledge/vector-stores/sqlite-vec.ts";
import { reembed } from "../../../../shared/library/change-documents.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { PermanentError, RetryableError } from "../../../../shared/platform/errors.ts";
import { sha256, uuidv7 } from "../../../../shared/platform/ids.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { testDatabase } from "../../../services/index.ts";
import { measuredIn } from "../../../services/measured.ts";

const DESCRIPTOR: EmbedderDescriptor = {
  model: "letters",
  dimension: 26,
  maxTokens: 100,
  languages: ["en"],
  cached: true,
  fusion: { method: "rrf", weights: { vector: 1, keyword: 1 } },
};

/** Counts letters: a real vector per text, no model. Some texts get what a broken model gives. */
function letterEmbedder(): Embedder & { texts: string[] } {
  const texts: string[] = [];
  const embed = (text: string): Float32Array | null => {
    if (text.includes("poison")) return new Float32Array(26).fill(Number.NaN);
    const vector = new Float32Array(26);
    for (const letter of text) {
      const at = letter.charCodeAt(0) - 97;
      if (at >= 0 && at < 26) vector[at] = (vector[at] ?? 0) + 1;
    }
    const norm = Math.hypot(...vector);
    return norm === 0 ? null : vector.map((value) => value / norm);
  };
  return {
    texts,
    descriptor: DESCRIPTOR,
    async embedDocuments(batch) {
      if (batch.some((text) => text.includes("refused"))) throw new PermanentError("422", { code: "EMBEDDER_REFUSED" });
      texts.push(...batch);
      return batch.map(embed);
    },
    async embedQuery(text) {
      return embed(text);
    },
    async check() {},
  };
}

const SETTINGS = jobSettingsSchema.parse({
  seeds: ["https://site.example/"],
  scope: ANYWHERE,
  max_depth: 0,
  max_pages: 1,
  config: crawlConfigSchema.parse({}),
  tags: [],
});

async function startJob(sql: Sql, contents: string[], language = "en"): Promise<{ jobId: string; chunkIds: string[] }> {
  const jobId = uuidv7();
  const generationId = uuidv7();
  await sql`
    insert into jobs (id, kind, status, generation_id, settings, discovered, crawled, claimed, documents, chunks, unembedded_chunks)
    values (${jobId}, 'pages', 'running', ${generationId}, ${sql.json(SETTINGS)}, 1, 1, 1, 1, ${contents.length}, ${contents.length})`;
  const documentId = uuidv7();
  const url = `https://site.example/${jobId}`;
  await sql`
    insert into documents (id, generation_id, job_id, url, url_hash, domain, content, markdown, content_hash, language, crawled_at)
    values (${documentId}, ${generationId}, ${jobId}, ${url}, ${sha256(url)}, 'site.example', '', '', ${sha256("")}, ${language}, now())`;
  const chunkIds = contents.map(() => uuidv7());
  for (const [index, content] of contents.entries()) {
    await sql`
      insert into chunks (id, document_id, chunk_index, content, content_hash, start_char, end_char, token_count, content_type, fts)
      values (${chunkIds[index] ?? ""}, ${documentId}, ${index}, ${content}, ${sha256(content)}, 0, 1, 1, 'prose',
        chunk_fts(null, null, ${content}))`;
  }
  await sql`insert into embeddings (chunk_id) select id from unnest(${chunkIds}::uuid[]) c (id)`;
  return { jobId, chunkIds };
}

async function setup() {
  const { sql } = await testDatabase();
  const logged: string[] = [];
  const embedder = letterEmbedder();
  const vectors = createSqliteVectorStore({ path: ":memory:", descriptor: DESCRIPTOR });
  const dependencies: EmbedDependencies = {
    sql,
    vectorSide: { embedder, vectors },
    settleJob,
    log: createLogger({}, "error", (line) => logged.push(line)),
  };
  return { sql, embedder, vectors, dependencies, logged };
}

const jobState = async (sql: Sql, jobId: string) =>
  (
    await sql<{ status: string; unembedded: number; active: number; states: string[] }[]>`
      select status, unembedded_chunks as unembedded,
        (select count(*) from documents where job_id = j.id and generation_active) as active,
        array(select e.state from embeddings e join chunks c on c.id = e.chunk_id join documents d on d.id = c.document_id where d.job_id = j.id
          order by chunk_index) as states
      from jobs j where id = ${jobId}`
  )[0];

describe("embedding a task's chunks", () => {
  test("stores the vectors, counts the chunks and completes the job", async () => {
    const { sql, vectors, dependencies } = await setup();
    const { jobId, chunkIds } = await startJob(sql, ["abc", "xyz"]);
    await embedChunks(dependencies, { jobId, chunkIds });
    expect(await jobState(sql, jobId)).toEqual({
      status: "completed",
      unembedded: 0,
      active: 1,
      states: ["done", "done"],
    });
    const [asked] = await letterEmbedder().embedDocuments(["xyz"]);
    const [nearest] = await vectors.search(asked ?? new Float32Array(), 1);
    expect(nearest).toEqual({ chunkId: chunkIds[1], score: expect.closeTo(1, 5) });
    const statistics = await sql`select chunks from corpus_statistics`;
    expect(statistics).toEqual([{ chunks: 2 }]);
  });

  test("a task that comes twice, at once or later, counts once", async () => {
    const { sql, dependencies } = await setup();
    const { jobId, chunkIds } = await startJob(sql, ["abc", "def", "ghi"]);
    const [first, second, third] = chunkIds;
    const tasks = [
      { jobId, chunkIds: [first ?? "", second ?? ""] },
      { jobId, chunkIds: [second ?? "", first ?? ""] },
    ];
    await Promise.all([...tasks, ...tasks].map((task) => embedChunks(dependencies, task)));
    await embedChunks(dependencies, tasks[0] ?? { jobId, chunkIds });
    expect(await jobState(sql, jobId)).toMatchObject({ status: "embedding", unembedded: 1, active: 0 });
    await embedChunks(dependencies, { jobId, chunkIds: [third ?? ""] });
    expect(await jobState(sql, jobId)).toMatchObject({ status: "completed", unembedded: 0, active: 1 });
  });

  test("a content is embedded once and then comes from the cache", async () => {
    const { sql, embedder, dependencies, logged } = await setup();
    const one = await startJob(sql, ["same", "same", "other"]);
    await embedChunks(dependencies, one);
    const two = await startJob(sql, ["same"]);
    await embedChunks(dependencies, two);
    expect(embedder.texts.toSorted()).toEqual(["other", "same"]);
    expect(measuredIn(logged, "embed")).toMatchObject({ chunks_embedded: 3, chunks_cached: 1, chunks_refused: 0 });
    expect(measuredIn(logged, "jobs")).toMatchObject({ ended: 2 });
    expect(await jobState(sql, two.jobId)).toMatchObject({ status: "completed" });
  });

  test("what the model knows nothing of has no vector, at once, and the job ends", async () => {
    const { sql, dependencies, logged } = await setup();
    const { jobId, chunkIds } = await startJob(sql, ["abc", "12 345"]);
    await embedChunks(dependencies, { jobId, chunkIds });
    expect(await jobState(sql, jobId)).toMatchObject({ status: "completed", unembedded: 0, states: ["done", "none"] });
    expect(measuredIn(logged, "embed")).toMatchObject({ chunks_embedded: 1, chunks_released: 1, chunks_refused: 0 });
  });

  test("pages in a language that the model does not know are not embedded; those in one unknown are", async () => {
    const { sql, embedder, dependencies } = await setup();
    const finnish = await startJob(sql, ["sauna"], "fi");
    await embedChunks(dependencies, finnish);
    expect(await jobState(sql, finnish.jobId)).toMatchObject({ status: "completed", states: ["none"] });
    expect(embedder.texts).toEqual([]);
    const unknown = await startJob(sql, ["sauna"], "und");
    await embedChunks(dependencies, unknown);
    expect(await jobState(sql, unknown.jobId)).toMatchObject({ status: "completed", states: ["done"] });
  });

  test("a model that is faster than the cache leaves it alone", async () => {
    const { sql, embedder, dependencies } = await setup();
    const descriptor = { ...embedder.descriptor, cached: false };
    const vectorSide = dependencies.vectorSide && { ...dependencies.vectorSide, embedder: { ...embedder, descriptor } };
    for (const job of [await startJob(sql, ["same"]), await startJob(sql, ["same"])]) {
      await embedChunks({ ...dependencies, vectorSide }, job);
      expect(await jobState(sql, job.jobId)).toMatchObject({ status: "completed", states: ["done"] });
    }
    expect(embedder.texts).toEqual(["same", "same"]);
    expect(await sql`select from embedding_cache`).toHaveLength(0);
  });

  test("texts that kill whoever embeds them hold up no others of their task", async () => {
    const { sql, embedder, dependencies } = await setup();
    const texts = Array.from({ length: 40 }, (_, at) => (at % 19 === 3 ? `killer ${at}` : `text ${at}`));
    const { jobId, chunkIds } = await startJob(sql, texts);
    const { embedDocuments } = embedder;
    vi.spyOn(embedder, "embedDocuments").mockImplementation(async (batch) => {
      if (batch.some((text) => text.startsWith("killer"))) throw new Error("killed");
      return await embedDocuments(batch);
    });
    const waiting = async () => (await jobState(sql, jobId))?.unembedded ?? 0;
    for (let receiveCount = 1; receiveCount <= 2; receiveCount += 1) {
      await expect(embedChunks(dependencies, { jobId, chunkIds }, receiveCount)).rejects.toThrow("killed");
      expect(await waiting()).toBe(40);
    }
    for (let receiveCount = 3; (await waiting()) > 2; receiveCount += 1) {
      expect(receiveCount).toBeLessThan(100);
      await expect(embedChunks(dependencies, { jobId, chunkIds }, receiveCount)).rejects.toThrow("killed");
    }
    const { states } = (await jobState(sql, jobId)) ?? { states: [] };
    expect(texts.filter((_, at) => states[at] !== "done")).toEqual(["killer 3", "killer 22"]);
  });

  test("an embedder that is down leaves everything as it was", async () => {
    const { sql, embedder, dependencies } = await setup();
    const { jobId, chunkIds } = await startJob(sql, ["abc"]);
    const down = new RetryableError("down", { code: "EMBEDDER_UNAVAILABLE" });
    vi.spyOn(embedder, "embedDocuments").mockRejectedValueOnce(down);
    await expect(embedChunks(dependencies, { jobId, chunkIds })).rejects.toBe(down);
    expect(await jobState(sql, jobId)).toMatchObject({ status: "running", unembedded: 1, states: ["pending"] });
    await embedChunks(dependencies, { jobId, chunkIds });
    expect(await jobState(sql, jobId)).toMatchObject({ status: "completed" });
  });

  test("a store that is down leaves everything as it was", async () => {
    const { sql, vectors, dependencies } = await setup();
    const { jobId, chunkIds } = await startJob(sql, ["abc"]);
    const down = new RetryableError("down", { code: "VECTOR_STORE_UNAVAILABLE" });
    vi.spyOn(vectors, "upsert").mockRejectedValueOnce(down);
    await expect(embedChunks(dependencies, { jobId, chunkIds })).rejects.toBe(down);
    expect(await jobState(sql, jobId)).toMatchObject({ status: "running", unembedded: 1, states: ["pending"] });
  });

  test("what was embedded while the store was down is not embedded again", async () => {
    const { sql, embedder, vectors, dependencies } = await setup();
    const { jobId, chunkIds } = await startJob(sql, ["abc"]);
    const upsert = vi.spyOn(vectors, "upsert");
    for (let delivery = 0; delivery < 3; delivery++) {
      upsert.mockRejectedValueOnce(new RetryableError("down", { code: "VECTOR_STORE_UNAVAILABLE" }));
      await expect(embedChunks(dependencies, { jobId, chunkIds })).rejects.toThrow("down");
    }
    await embedChunks(dependencies, { jobId, chunkIds });
    expect(embedder.texts).toEqual(["abc"]);
    expect(await jobState(sql, jobId)).toMatchObject({ status: "completed", states: ["done"] });
  });

  test("a job whose vectors the store can never take ends without them", async () => {
    const { sql, vectors, dependencies } = await setup();
    const { jobId, chunkIds } = await startJob(sql, ["abc", "def"]);
    vi.spyOn(vectors, "upsert").mockRejectedValue(new PermanentError("no", { code: "VECTOR_STORE_REFUSED" }));
    for (let attempt = 1; attempt < MOST_ATTEMPTS; attempt++) {
      await expect(embedChunks(dependencies, { jobId, chunkIds })).rejects.toBeInstanceOf(RetryableError);
    }
    await embedChunks(dependencies, { jobId, chunkIds });
    expect(await jobState(sql, jobId)).toMatchObject({ status: "completed", states: ["failed", "failed"] });
  });

  test("one vector that the store can never take keeps no other from it", async () => {
    const { sql, vectors, dependencies } = await setup();
    const contents = Array.from({ length: 9 }, (_, at) => `text ${at}`);
    const { jobId, chunkIds } = await startJob(sql, contents);
    const { upsert } = vectors;
    const [bad] = chunkIds.slice(5);
    vi.spyOn(vectors, "upsert").mockImplementation(async (points) => {
      if (points.some(({ chunkId }) => chunkId === bad))
        throw new PermanentError("no", { code: "VECTOR_STORE_REFUSED" });
      await upsert.call(vectors, points);
    });
    await expect(embedChunks(dependencies, { jobId, chunkIds })).rejects.toBeInstanceOf(RetryableError);
    const state = await jobState(sql, jobId);
    expect(state?.states.toSorted()).toEqual([...Array.from({ length: 8 }, () => "done"), "pending"]);
    expect((await vectors.scan(null, 20)).ids.toSorted()).toEqual(chunkIds.filter((id) => id !== bad).toSorted());
  });

  test("vectors follow a job that has completed before them, and not one that was replaced", async () => {
    const { sql, vectors, dependencies } = await setup();
    for (const active of [true, false]) {
      const { jobId, chunkIds } = await startJob(sql, ["abc"]);
      await sql`update jobs set status = 'completed' where id = ${jobId}`;
      await sql`update documents set generation_active = ${active} where job_id = ${jobId}`;
      await embedChunks(dependencies, { jobId, chunkIds });
      const expected = active ? { unembedded: 0, states: ["done"] } : { unembedded: 1, states: ["pending"] };
      expect(await jobState(sql, jobId)).toMatchObject({ status: "completed", ...expected });
    }
    expect((await vectors.scan(null, 10)).ids).toHaveLength(1);
  });

  test.each([false, true])(
    "a point has the tags and the collection that its document was given while it was stored; at the very end: %s",
    async (atTheEnd) => {
      const { sql, vectors, dependencies } = await setup();
      const { jobId, chunkIds } = await startJob(sql, ["abc"]);
      await sql`update jobs set status = 'completed' where id = ${jobId}`;
      await sql`update documents set generation_active = true where job_id = ${jobId}`;
      const [document] = await sql<{ id: string }[]>`select id from documents where job_id = ${jobId}`;
      const [tag] = await sql<{ id: string }[]>`insert into tags (id, name) values (${uuidv7()}, 'late') returning id`;
      let change: Promise<unknown> | undefined;
      const stored: string[][] = [];
      const { embedder } = dependencies.vectorSide ?? expect.fail("no embedder");
      const told = Promise.withResolvers<void>();
      const slow: Pick<typeof vectors, "upsert"> = {
        async upsert(points) {
          await vectors.upsert(points);
          stored.push(...points.map(({ payload }) => payload.tags));
          change ??= sql.begin(async (tx) => {
            await tx`insert into document_tags (document_id, tag_id) values (${document?.id ?? ""}, ${tag?.id ?? ""})`;
            expect(await reembed(tx, [document?.id ?? ""])).toEqual([]);
            told.resolve();
            // the worker comes to its end meanwhile
            if (!atTheEnd) return;
            const blocked = () => sql`
              select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
            await expect.poll(async () => (await blocked()).length).toBe(1);
          });
          await told.promise;
        },
      };
      await embedChunks(
        { ...dependencies, vectorSide: { embedder, vectors: { ...vectors, ...slow } } },
        { jobId, chunkIds },
      );
      await change;
      expect(stored).toEqual([[], [tag?.id]]);
      expect(await jobState(sql, jobId)).toMatchObject({ unembedded: 0, states: ["done"] });
    },
  );

  test.each(["poison", "refused"])("a chunk whose vector is %s fails alone, and the job still ends", async (fault) => {
    const { sql, dependencies } = await setup();
    const { jobId, chunkIds } = await startJob(sql, ["abc", `${fault} text`, "def"]);
    for (let attempt = 1; attempt < MOST_ATTEMPTS; attempt++) {
      await expect(embedChunks(dependencies, { jobId, chunkIds })).rejects.toBeInstanceOf(RetryableError);
      expect(await jobState(sql, jobId)).toMatchObject({ unembedded: 1, states: ["done", "pending", "done"] });
    }
    await embedChunks(dependencies, { jobId, chunkIds });
    expect(await jobState(sql, jobId)).toEqual({
      status: "completed",
      unembedded: 0,
      active: 1,
      states: ["done", "failed", "done"],
    });
  });

  test("chunks that wait are let go where embeddings are switched off", async () => {
    const { sql, dependencies, logged } = await setup();
    const { jobId, chunkIds } = await startJob(sql, ["abc"]);
    await embedChunks({ ...dependencies, vectorSide: null }, { jobId, chunkIds });
    expect(measuredIn(logged, "embed")).toMatchObject({ chunks_released: 1 });
    expect(await jobState(sql, jobId)).toMatchObject({ status: "completed", states: ["none"] });
  });

  test("chunks of a job that has ended, or that is not theirs, are left alone", async () => {
    const { sql, embedder, dependencies } = await setup();
    const one = await startJob(sql, ["abc"]);
    const two = await startJob(sql, ["def"]);
    await embedChunks(dependencies, { jobId: two.jobId, chunkIds: one.chunkIds });
    await sql`update jobs set status = 'cancelled' where id = ${one.jobId}`;
    await embedChunks(dependencies, one);
    expect(embedder.texts).toEqual([]);
    expect(await jobState(sql, one.jobId)).toMatchObject({ unembedded: 1, states: ["pending"] });
  });
});
