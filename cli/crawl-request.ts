/** The body of a request for a crawl, from options and a file. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { CliError, EXIT } from "./exit.ts";

export interface RequestOptions {
  depth?: number;
  maxPages?: number;
  maxPagesPerHost?: number;
  strategy?: string;
  /** Separated by commas. */
  keywords?: string;
  scoreThreshold?: number;
  scope?: string;
  include?: string[];
  exclude?: string[];
  /** Seconds. */
  timeout?: number;
  concurrency?: number;
  render?: string;
  waitFor?: string;
  /** Requests a second and host. */
  rate?: number;
  /** False with `--no-robots`. */
  robots: boolean;
  /** `Name: value`, each. */
  header?: string[];
  language?: string[];
  proxy?: string;
  tag?: string[];
  priority?: string;
  cache?: string;
  /** A file with fields of the request. */
  config?: string;
}

type Fields = Record<string, unknown>;

export interface CrawlRequest {
  /** Whether each URL is where a site begins; otherwise it is a page. */
  site: boolean;
  /** Fields of the body, all but the URLs. */
  fields: Fields;
}

/** Fields that only a crawl of a site takes. */
const OF_A_SITE = [
  "max_depth",
  "max_pages",
  "max_pages_per_host",
  "strategy",
  "keywords",
  "score_threshold",
  "scope",
  "include",
  "exclude",
  "timeout_seconds",
];

/**
 * What the options ask for; each of them wins over the same field of the file.
 * @throws CliError for a file that cannot be read, or a header that is none
 */
export function crawlRequest(options: RequestOptions): CrawlRequest {
  const file = options.config === undefined ? {} : readFields(options.config);
  const config = file["config"] ?? {};
  if (!isFields(config)) {
    throw new CliError(`"config" in ${options.config} is not a set of fields`, EXIT.usage);
  }
  const fields = {
    ...file,
    ...given({
      max_depth: options.depth,
      max_pages: options.maxPages,
      max_pages_per_host: options.maxPagesPerHost,
      strategy: options.strategy,
      keywords: options.keywords?.split(",").filter((word) => word.trim() !== ""),
      score_threshold: options.scoreThreshold,
      scope: options.scope,
      include: options.include,
      exclude: options.exclude,
      timeout_seconds: options.timeout,
      concurrency: options.concurrency,
      tags: options.tag,
      priority: options.priority,
      cache: options.cache,
    }),
    config: {
      ...config,
      ...given({
        rate_limit_rps: options.rate,
        render: options.render,
        wait_for: options.waitFor,
        respect_robots_txt: options.robots ? undefined : false,
        headers: options.header && { ...(config["headers"] as Fields | undefined), ...headersOf(options.header) },
        languages: options.language,
        proxy_id: options.proxy,
      }),
    },
  };
  return { site: OF_A_SITE.some((field) => field in fields), fields };
}

const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reads the fields of a request; JSON is YAML, too.
 * @throws CliError
 */
export function readFields(file: string): Fields {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`, EXIT.usage);
  }
  let fields: unknown;
  try {
    fields = parse(text);
  } catch (error) {
    throw new CliError(`${file} is neither JSON nor YAML: ${(error as Error).message}`, EXIT.usage);
  }
  if (isFields(fields)) return fields;
  throw new CliError(
    `${file} does not hold the fields of a request`,
    EXIT.usage,
    'As in: {"config": {"chunk_size": 256}}',
  );
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const pairs = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    if (colon < 1)
      throw new CliError(`"${line}" is no header`, EXIT.usage, "Write it as in --header 'Accept-Language: de'");
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return Object.fromEntries(pairs);
}
