/**
 * Main content against people's judgement: scrapinghub/article-extraction-benchmark, beside Readability on linkedom.
 *
 * The benchmark's article body leaves out the headline, which our text keeps where it stands in the content (it is a
 * section of its own); `f1_without_headline` is the same text less its first h1. The extraction was developed on the
 * half of the pages whose name starts with an even byte; the other half was only ever scored.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { z } from "zod";
import { extractPage } from "../../shared/extract/extract-page.ts";
import type { Extraction } from "../../shared/extract/extraction.ts";
import type { BenchOptions } from "../bench.ts";
import { average, type PageScore, scorePage } from "../shingle-score.ts";

const groundTruth = z.record(z.string(), z.object({ articleBody: z.string(), url: z.string() }));

interface Sample {
  html: string;
  url: string;
  body: string;
  developed: boolean;
}

export async function run({ data, scale }: BenchOptions): Promise<Record<string, number>> {
  if (data === undefined) throw new Error("The extract benchmark needs --data DIR with DIR/article-extraction in it");
  const samples = await readSamples(join(data, "article-extraction"), scale);
  const ours = measure(samples, ({ html, url }) => extractPage(html, { url }));
  const theirs = measure(samples, ({ html }) => readabilityContent(html));
  const scores = samples.map(({ body }, index) => scorePage(body, ours.results[index]?.text ?? ""));
  const headless = samples.map(({ body }, index) => scorePage(body, withoutHeadline(ours.results[index])));
  const peer = samples.map(({ body }, index) => scorePage(body, blockText(theirs.results[index] ?? "")));
  const half = (of: PageScore[], developed: boolean): number =>
    average(of.filter((_, index) => samples[index]?.developed === developed)).f1;
  const total = average(scores);
  const readability = average(peer);
  return {
    pages: samples.length,
    kilobytes_per_page: samples.reduce((sum, { html }) => sum + html.length, 0) / samples.length / 1000,
    f1: total.f1,
    precision: total.precision,
    recall: total.recall,
    f1_without_headline: average(headless).f1,
    f1_development_half: half(scores, true),
    f1_held_out_half: half(scores, false),
    ms_per_page: ours.msPerPage,
    readability_f1: readability.f1,
    readability_precision: readability.precision,
    readability_recall: readability.recall,
    readability_f1_development_half: half(peer, true),
    readability_f1_held_out_half: half(peer, false),
    readability_ms_per_page: theirs.msPerPage,
  };
}

async function readSamples(folder: string, scale: number): Promise<Sample[]> {
  const truth = groundTruth.parse(JSON.parse(await readFile(join(folder, "ground-truth.json"), "utf8")));
  const names = Object.keys(truth).sort();
  const wanted = Math.max(4, Math.round(names.length * Math.min(1, scale)));
  return Promise.all(
    names.slice(0, wanted).map(async (name) => {
      const { articleBody, url } = truth[name] as { articleBody: string; url: string };
      const html = gunzipSync(await readFile(join(folder, "html", `${name}.html.gz`))).toString("utf8");
      return { html, url, body: articleBody, developed: Number.parseInt(name.slice(0, 2), 16) % 2 === 0 };
    }),
  );
}

/** CPU time, user and system, of the second of two rounds: the first one warms the compiler up. */
function measure<Result>(
  samples: readonly Sample[],
  extract: (sample: Sample) => Result,
): { results: Result[]; msPerPage: number } {
  for (const sample of samples) extract(sample);
  const before = process.cpuUsage();
  const results = samples.map(extract);
  const { user, system } = process.cpuUsage(before);
  return { results, msPerPage: (user + system) / 1000 / samples.length };
}

function readabilityContent(html: string): string {
  const { document } = parseHTML(html);
  return new Readability(document).parse()?.content ?? "";
}

/** Readability's own `textContent` glues the last word of a block to the first of the next; this keeps them apart. */
function blockText(content: string): string {
  const spaced = content.replace(
    /<\/?(?:p|div|li|ul|ol|h[1-6]|td|tr|table|br|blockquote|figure|figcaption)\b/gi,
    "\n$&",
  );
  return parseHTML(`<!doctype html><html><body>${spaced}</body></html>`).document.body.textContent ?? "";
}

function withoutHeadline(extraction: Extraction | undefined): string {
  if (extraction === undefined) return "";
  const { text, sections } = extraction;
  const headline = sections.find(({ level }) => level === 1);
  if (headline === undefined) return text;
  return text.slice(0, headline.start) + text.slice(headline.start + (headline.heading?.length ?? 0));
}
