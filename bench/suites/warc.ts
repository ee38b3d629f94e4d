/**
 * Indexing a WARC file: how fast, against `gunzip` of the same file, and whether memory stays flat from 10 MB to 1 GB.
 * Each reading runs in a process of its own; the two are run in turn, and the middle of their ratios counts. Then files
 * of both sizes are imported from end to end, captures, texts and keywords included, and priced.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readJsonLine, startNode } from "../../test/services/processes.ts";
import type { Benchmark } from "../bench.ts";
import { withImporter } from "../warc/import-file.ts";
import { writeSite } from "../warc/write-site.ts";

const MB = 1024 * 1024;
const WORKER = join(import.meta.dirname, "../warc/index-worker.ts");
const PAIRS = 5;

export const run: Benchmark = async ({ scale }) => {
  const fileOf = (name: string): string => join(tmpdir(), `strandline-bench-${process.pid}-${name}.warc.gz`);
  const [small, medium, large] = [fileOf("small"), fileOf("medium"), fileOf("large")];
  try {
    await writeSite(small, 10 * MB);
    await writeSite(medium, 100 * MB);
    const records = await writeSite(large, 1000 * MB * scale);
    const pairs: { seconds: number; gunzip: number }[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      pairs.push({ seconds: (await index(medium)).seconds, gunzip: await gunzipSeconds(medium) });
    }
    const { size } = await stat(medium);
    const reading = {
      mb_per_second: size / MB / middle(pairs.map(({ seconds }) => seconds)),
      share_of_gunzip: middle(pairs.map(({ seconds, gunzip }) => gunzip / seconds)),
      rss_mb_10mb: (await index(small)).rssMb,
      rss_mb_1gb: (await index(large)).rssMb,
    };
    return { ...reading, ...(await endToEnd(small, large, records)) };
  } finally {
    await Promise.all([small, medium, large].map((file) => rm(file, { force: true })));
  }
};

async function endToEnd(small: string, large: string, records: number): Promise<Record<string, number>> {
  const gb = (await stat(large)).size / 1e9;
  return await withImporter(async (importFile) => {
    const few = await importFile(small);
    const all = await importFile(large);
    return {
      import_mb_per_second: (1000 * gb) / all.seconds,
      import_records_per_second: records / all.seconds,
      import_slices: all.slices,
      import_rss_mb_10mb: few.peakMb,
      import_rss_mb_1gb: all.peakMb,
      import_slowest_answer_ms: all.slowestMs,
      usd_per_gb: all.usd / gb,
      usd_per_million_records: (1_000_000 * all.usd) / records,
    };
  });
}

async function index(file: string): Promise<{ seconds: number; rssMb: number }> {
  return await readJsonLine(startNode(WORKER, [file]));
}

async function gunzipSeconds(file: string): Promise<number> {
  const started = performance.now();
  const gunzip = spawn("gunzip", ["-c", file], { stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(gunzip, "exit");
  if (code !== 0) throw new Error(`gunzip ended with ${code}`);
  return (performance.now() - started) / 1000;
}

const middle = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
