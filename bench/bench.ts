/**
 * `npm run bench -- NAME [--data DIR] [options]`: runs one benchmark, prints its table, writes
 * `bench/results/NAME.json`.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Folder with the public data sets; undefined where none was given. */
  data: string | undefined;
  /** Scales the work down for a quick look; the figures of the README use 1. */
  scale: number;
  /** Generated documents that `relevance` adds to its collection; 0 where none are asked for. */
  distractors: number;
  /** The one part that is wanted, of a benchmark that has parts; undefined: all. */
  only: string | undefined;
}

/** What a benchmark module exports as `run`: flat numbers by name. */
export type Benchmark = (options: BenchOptions) => Promise<Record<string, number>>;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: "string" },
    scale: { type: "string", default: "1" },
    distractors: { type: "string", default: "0" },
    only: { type: "string" },
  },
});
const suites = join(import.meta.dirname, "suites");
const names = (await readdir(suites)).filter((file) => file.endsWith(".ts")).map((file) => file.replace(/\.ts$/, ""));
const name = positionals[0];
if (name === undefined || !names.includes(name)) {
  process.stderr.write(
    `Usage: npm run bench -- NAME [--data DIR] [--scale N] [--distractors N] [--only PART]\nNAME is one of: ${names.join(", ")}\n`,
  );
  process.exit(2);
}
const suite: { run: Benchmark } = await import(join(suites, `${name}.ts`));
const figures = await suite.run({
  data: values.data,
  scale: Number(values.scale),
  distractors: Number(values.distractors),
  only: values.only,
});
console.table(figures);
const results = join(import.meta.dirname, "results");
await mkdir(results, { recursive: true });
const file = join(results, `${name}.json`);
// the other parts keep the figures of the run that measured them
const others = values.only === undefined ? {} : JSON.parse(await readFile(file, "utf8").catch(() => "{}"));
await writeFile(file, `${JSON.stringify({ ...others, ...figures }, null, 2)}\n`);
