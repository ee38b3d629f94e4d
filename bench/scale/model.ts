/**
 * What a deployment can do and what it costs, for any number of pages a second and of pages kept: from measured service
 * times, AWS's quotas and list prices. Pure; docs/scale.md says what is assumed.
 */
import { PRICES } from "../../local/usage/prices.ts";
import { MONTH_S } from "../economy/bill.ts";

/** Of one page of 12.8 KB with 30 links, as the benchmarks measured them. */
export interface PageCost {
  /** CPU of the functions and of the runtime around them, without embedding, in ms. */
  nodeCpuMs: number;
  postgresCpuMs: number;
  embedCpuMs: number;
  /** Of S3. */
  puts: number;
  /** Of a point in the vector store. */
  vectorBytes: number;
}

/** Of docs/cost.md, which has them by page: from `npm run bench -- economy`. */
const DATABASE_BYTES = 98 * 1024;
const LOG_BYTES = 144 * 1024;
const WARC_BYTES = 10 * 1024;
/** Of 1,900 words at 512 tokens a chunk. */
export const CHUNKS = 5;
/** Hosts that one fetch function waits for at once. */
const SHARED_BY = 40;
/** Seconds of a page for which a fetch function works, and which nobody shares: what is over at 1 and at 10 hosts. */
const FETCH_WORK_S = 0.07;
/** Dollars a million pages without the database and the time of fetch: other functions, requests. */
const USD_PER_MILLION_PAGES = 0.24 + 0.04 + 0.05 + 0.42 + 1.32 + 0.89 + 0.06;

/** Seconds for which a fetch function of 1 GB is at work or waits, at one request a second of each host. */
const fetchSeconds = (hosts: number): number => 1 / Math.min(hosts, SHARED_BY) + FETCH_WORK_S;
const LEAST_FETCH_S = fetchSeconds(SHARED_BY);

/** One quantised byte a dimension, and 16 links in the graph with their layer above, of 4 bytes each. */
const VECTOR_MEMORY_BYTES = 256 + 2 * 16 * 4 * 1.1 + 100;
/** Until a page is in the database, with both queues, of a captures function that takes four batches at once. */
const INGEST_MS = 25;

/** Four units have one processor, and Aurora grows before it is busy all the time. */
const ACU_PER_CPU = 4;
const BUSY = 0.7;
const LEAST_ACU = 0.5;
const GB = 1024 ** 3;
const TB = 1024 ** 4;

/** What something stands for, and at how many pages a second it is used up. */
export interface Limit {
  name: string;
  pagesPerSecond: number;
  /** What is to be done then. */
  remedy: string;
}

/** In the order in which they are met. */
export function limitsOfRate(page: PageCost): Limit[] {
  const perAcu = (acu: number) => (acu * BUSY * 1000) / (ACU_PER_CPU * page.postgresCpuMs);
  return [
    {
      name: "a database of 4 units, the default",
      pagesPerSecond: perAcu(4),
      remedy: "databaseMaxAcu",
    },
    {
      name: "320 fetch functions at once, of the three triggers",
      pagesPerSecond: 320 / LEAST_FETCH_S,
      remedy: "the triggers' maxConcurrency",
    },
    {
      name: "8 ingest functions at once",
      pagesPerSecond: (8 * 1000) / INGEST_MS,
      remedy: "the trigger's maxConcurrency, and connections with it",
    },
    {
      name: "1,000 functions at once, the quota of an account",
      pagesPerSecond: 1_000 / (LEAST_FETCH_S + INGEST_MS / 1000),
      remedy: "a larger quota",
    },
    {
      name: "a database of 256 units, the largest there is",
      pagesPerSecond: perAcu(256),
      remedy: "the frontier out of Postgres, and one database for each group of sources",
    },
    {
      name: "3,500 PUTs a second of one prefix of the bucket",
      pagesPerSecond: 3_500 / page.puts,
      remedy: "nothing: S3 parts the prefix of a day by itself",
    },
  ].toSorted((one, other) => one.pagesPerSecond - other.pagesPerSecond);
}

export interface Need {
  pagesPerSecond: number;
  /** At one request a second of each. */
  hosts: number;
  fetchFunctions: number;
  ingestFunctions: number;
  /** Not capped: what it would take. */
  acu: number;
  /** Of the database's log. */
  logMbPerSecond: number;
  puts: number;
  usdPerMonth: number;
}

/** @param pagesPerSecond all month */
export function needOf(page: PageCost, pagesPerSecond: number): Need {
  const acu = Math.max(LEAST_ACU, (pagesPerSecond * page.postgresCpuMs * ACU_PER_CPU) / (1000 * BUSY));
  const pages = pagesPerSecond * MONTH_S;
  const hosts = Math.ceil(pagesPerSecond);
  const fetchS = fetchSeconds(hosts);
  const log = pages * LOG_BYTES;
  return {
    pagesPerSecond,
    hosts,
    fetchFunctions: Math.ceil(pagesPerSecond * fetchS),
    ingestFunctions: Math.ceil((pagesPerSecond * INGEST_MS) / 1000),
    acu,
    logMbPerSecond: (pagesPerSecond * LOG_BYTES) / 1024 ** 2,
    puts: pagesPerSecond * page.puts,
    usdPerMonth:
      (pages / 1_000_000) * USD_PER_MILLION_PAGES +
      pages * fetchS * PRICES.lambdaGbSecond +
      (acu * PRICES.auroraAcuHour * MONTH_S) / 3_600 +
      (log / PRICES.auroraIoBytes) * PRICES.auroraIo,
  };
}

export interface Kept {
  pages: number;
  databaseTb: number;
  warcTb: number;
  vectors: number;
  vectorTb: number;
  /** Where the vector store keeps quantised vectors and its graph in memory. */
  vectorMemoryGb: number;
  /** Of some 50 million points each. */
  shards: number;
  /** Of up to 5 TB, so that a copy is restored and an index is built within a night. */
  databases: number;
  /** Without the vector store. */
  usdPerMonth: number;
}

const POINTS_PER_SHARD = 50_000_000;
const TB_PER_DATABASE = 5;

export function keptOf(page: PageCost, pages: number): Kept {
  const databaseTb = (pages * DATABASE_BYTES) / TB;
  const vectors = pages * CHUNKS;
  return {
    pages,
    databaseTb,
    warcTb: (pages * WARC_BYTES) / TB,
    vectors,
    vectorTb: (vectors * page.vectorBytes) / TB,
    vectorMemoryGb: (vectors * VECTOR_MEMORY_BYTES) / GB,
    shards: Math.ceil(vectors / POINTS_PER_SHARD),
    databases: Math.ceil(databaseTb / TB_PER_DATABASE),
    usdPerMonth: pages * ((DATABASE_BYTES * PRICES.auroraGbMonth) / GB + (WARC_BYTES * PRICES.s3GbMonth) / GB),
  };
}

/**
 * Of the local runtime, where everything shares the processors.
 * @param cpuMs of a page, for all that runs there, in ms
 * @param rps what the hosts of a crawl allow together
 */
export const localPagesPerSecond = (cpuMs: number, processors: number, rps: number): number =>
  Math.min(rps, (processors * 1000) / cpuMs);
