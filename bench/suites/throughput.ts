/**
 * Searches at once: clients that ask a whole runtime for hybrid searches, each as soon as it has
 * its last answer, over a crawled site of some 10,000 chunks with its vectors. No query is asked twice. Then four times
 * as many clients: what is too much is refused within seconds, and the rest answered.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { startInstance } from "../../test/services/instance.ts";
import { cpuMs, readJsonLine, startNode, treeCpuMs } from "../../test/services/processes.ts";
import type { Benchmark } from "../bench.ts";
import { runCrawl } from "../crawl/run-crawl.ts";

const PAGES = 1_000;
const CLIENTS = 16;
const CROWD = 64;
const WARM_UP_MS = 3_000;
const MEASURED_MS = 15_000;
const WORDS_PER_QUERY = 3;
const EMBEDDING_TIMEOUT_MS = 600_000;
const POLL_MS = 1_000;

export const run: Benchmark = async ({ scale }) => {
  const pages = Math.ceil(PAGES * scale);
  const site = startNode(join(import.meta.dirname, "../crawl/site.ts"), [], { PAGES: String(pages) });
  const { port } = await readJsonLine<{ port: number }>(site);
  const instance = await startInstance({ env: { ACCESS__ALLOW_HOSTS: `127.0.0.1:${port}` } });
  const sql = postgres(instance.postgresUrl, { max: 1 });
  try {
    await runCrawl(instance, `http://127.0.0.1:${port}/page/0`, pages);
    await site.stop();
    const chunks = await embedded(sql);
    const texts = await sql<{ content: string }[]>`select content from chunks order by id limit 2000`;
    const words = [...new Set(texts.flatMap(({ content }) => content.match(/\p{L}{4,}/gu) ?? []))];
    let asked = 0;
    const nextQuery = (): string => {
      const at = asked++;
      return Array.from({ length: WORDS_PER_QUERY }, (_, step) => words[(at * (step * 7 + 1)) % words.length]).join(
        " ",
      );
    };
    await crowd(instance, CLIENTS, WARM_UP_MS, nextQuery);
    const { pid } = instance.child;
    const before = { node: await cpuMs(pid), tree: await treeCpuMs(pid) };
    const few = await crowd(instance, CLIENTS, MEASURED_MS, nextQuery);
    const node = (await cpuMs(pid)) - before.node;
    const tree = (await treeCpuMs(pid)) - before.tree;
    const many = await crowd(instance, CROWD, MEASURED_MS, nextQuery);
    return {
      chunks,
      ...named(few, ""),
      node_cpu_ms_per_search: round(node / few.answered),
      postgres_cpu_ms_per_search: round((tree - node) / few.answered),
      ...named(many, "_of_a_crowd"),
    };
  } finally {
    await sql.end();
    await instance.stop();
    await site.stop();
  }
};

/** @returns the chunks, once each has its vector */
async function embedded(sql: postgres.Sql): Promise<number> {
  const deadline = performance.now() + EMBEDDING_TIMEOUT_MS;
  for (;;) {
    const [{ chunks = 0, done = 0 } = {}] = await sql<{ chunks: number; done: number }[]>`
      select count(*)::int as chunks, count(*) filter (where e.state = 'done')::int as done
      from chunks c left join embeddings e on e.chunk_id = c.id`;
    if (chunks > 0 && chunks === done) return chunks;
    if (performance.now() > deadline) throw new Error(`${done} of ${chunks} chunks have their vectors`);
    await delay(POLL_MS);
  }
}

interface CrowdFigures {
  answered: number;
  refused: number;
  seconds: number;
  /** Of the answered ones, in ms, shortest first. */
  times: number[];
  /** The longest that anybody waited to be refused, in ms. */
  longestRefusalMs: number;
}

async function crowd(
  instance: { url: string; apiKey: string },
  clients: number,
  ms: number,
  nextQuery: () => string,
): Promise<CrowdFigures> {
  const figures: CrowdFigures = { answered: 0, refused: 0, seconds: 0, times: [], longestRefusalMs: 0 };
  const started = performance.now();
  const client = async (): Promise<void> => {
    while (performance.now() - started < ms) {
      const asked = performance.now();
      const response = await fetch(`${instance.url}/api/v1/search`, {
        method: "POST",
        headers: { authorization: `Bearer ${instance.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({ query: nextQuery(), limit: 10 }),
      });
      const answer = (await response.json()) as { missing_sides?: unknown[] };
      const took = performance.now() - asked;
      if (response.status === 503) {
        figures.refused++;
        figures.longestRefusalMs = Math.max(figures.longestRefusalMs, took);
        await delay(Number(response.headers.get("retry-after") ?? 1) * 1000);
      } else if (response.status === 200 && answer.missing_sides?.length === 0) {
        figures.answered++;
        figures.times.push(took);
      } else throw new Error(`a search was answered ${response.status}: ${JSON.stringify(answer).slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  figures.seconds = (performance.now() - started) / 1000;
  figures.times.sort((a, b) => a - b);
  return figures;
}

function named({ answered, refused, seconds, times, longestRefusalMs }: CrowdFigures, suffix: string) {
  return {
    [`searches_per_second${suffix}`]: round(answered / seconds),
    [`p50_ms${suffix}`]: round(times[Math.floor(times.length * 0.5)] ?? 0),
    [`p95_ms${suffix}`]: round(times[Math.floor(times.length * 0.95)] ?? 0),
    [`refused_share${suffix}`]: round((100 * refused) / Math.max(1, answered + refused)) / 100,
    [`longest_refusal_ms${suffix}`]: round(longestRefusalMs),
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;
