/**
 * Hybrid search at 100,000 chunks of 200 words, embedded store, without the time of the query's embedding. Queries have
 * one to six words, drawn as the corpus draws its own, so that very common ones are among them. Then the same queries
 * by keywords alone, and what all of it takes in memory and on disk. `--scale 10` is a million chunks.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../local/postgres/postgres.ts";
import type { Embedder } from "../../shared/knowledge/embedders/embedder.ts";
import { STATIC_DESCRIPTOR } from "../../shared/knowledge/embedders/static/static-descriptor.ts";
import { refreshCorpusStatistics } from "../../shared/knowledge/search/corpus-statistics.ts";
import { search } from "../../shared/knowledge/search/search.ts";
import type { SearchRequest } from "../../shared/knowledge/search/search-request.ts";
import { createSqliteVectorStore } from "../../shared/knowledge/vector-stores/sqlite-vec.ts";
import type { VectorStore } from "../../shared/knowledge/vector-stores/vector-store.ts";
import { connectDatabase } from "../../shared/platform/database/database.ts";
import { migrate } from "../../shared/platform/database/migrations.ts";
import { childrenMemoryMb, memoryMb } from "../../test/services/processes.ts";
import type { BenchOptions } from "../bench.ts";
import { loadZipfCorpus, seededRandom, type ZipfCorpus } from "../zipf-corpus.ts";

const CHUNKS = 100_000;
const WARM_UP = 30;
const QUERIES = 300;
const LONGEST_QUERY = 6;
const POINTS_PER_UPSERT = 1_000;
/** The first search reads all vectors into memory. */
const WAIT_MS = 120_000;

export async function run({ scale }: BenchOptions): Promise<Record<string, number>> {
  const directory = await mkdtemp(join(tmpdir(), "strandline-search-"));
  const postgres = await startPostgres({ directory, surviveMachineCrash: false });
  const sql = connectDatabase({ url: postgres.url, poolSize: 1 });
  const vectors = createSqliteVectorStore({ path: join(directory, "vectors.sqlite"), descriptor: STATIC_DESCRIPTOR });
  try {
    await migrate(sql);
    const corpus = await loadZipfCorpus(sql, Math.ceil(CHUNKS * scale));
    await refreshCorpusStatistics(sql);
    const random = seededRandom(2);
    await loadVectors(vectors, corpus, random);
    const side = { embedder: randomEmbedder(random), vectors };
    const queries = Array.from({ length: WARM_UP + QUERIES }, (_, index) => {
      const length = 1 + (index % LONGEST_QUERY);
      return Array.from({ length }, () => corpus.word(corpus.drawRank())).join(" ");
    });
    const ask = async (mode: SearchRequest["mode"]): Promise<number[]> => {
      const times: number[] = [];
      for (const query of queries) {
        const started = performance.now();
        await search({ sql, vectorSide: async () => side, sharedWaitMs: WAIT_MS }, { query, mode, limit: 10 });
        times.push(performance.now() - started);
      }
      return times.slice(WARM_UP).sort((a, b) => a - b);
    };
    const hybrid = await ask("hybrid");
    const keyword = await ask("keyword");
    const [size] = await sql<{ bytes: number }[]>`select pg_database_size(current_database()) as bytes`;
    return {
      chunks: corpus.chunkIds.length,
      ...{ p50_ms: percentile(hybrid, 0.5), p95_ms: percentile(hybrid, 0.95) },
      ...{ keyword_p50_ms: percentile(keyword, 0.5), keyword_p95_ms: percentile(keyword, 0.95) },
      node_mb: Math.round((await memoryMb(process.pid)).now),
      postgres_mb: Math.round(await childrenMemoryMb(process.pid)),
      database_mb: Math.round((size?.bytes ?? 0) / 2 ** 20),
      vectors_mb: Math.round((await stat(join(directory, "vectors.sqlite"))).size / 2 ** 20),
    };
  } finally {
    await vectors.close();
    await sql.end();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** @param times shortest first */
function percentile(times: readonly number[], share: number): number {
  return Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10;
}

async function loadVectors(vectors: VectorStore, corpus: ZipfCorpus, random: () => number): Promise<void> {
  for (let start = 0; start < corpus.chunkIds.length; start += POINTS_PER_UPSERT) {
    const points = corpus.chunkIds.slice(start, start + POINTS_PER_UPSERT).map((chunkId) => ({
      chunkId,
      vector: randomVector(random),
      payload: {
        documentId: corpus.documentOf.get(chunkId) ?? "",
        generationId: "",
        collectionId: null,
        domain: "bench.example",
        url: "",
        title: null,
        source: "crawl" as const,
        language: "en",
        tags: [],
        crawledAt: "",
      },
    }));
    await vectors.upsert(points);
  }
}

/** Its vectors cost nothing, as the budget says. */
function randomEmbedder(random: () => number): Embedder {
  return {
    descriptor: STATIC_DESCRIPTOR,
    embedDocuments: async (texts) => texts.map(() => randomVector(random)),
    embedQuery: async () => randomVector(random),
    check: async () => {},
  };
}

/** Of length 1. */
function randomVector(random: () => number): Float32Array {
  const vector = Float32Array.from({ length: STATIC_DESCRIPTOR.dimension }, () => random() - 0.5);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}
