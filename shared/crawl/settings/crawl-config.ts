/** How to crawl: the settings of the reference's CrawlConfig. A task carries a snapshot of the effective values. */
import { z } from "zod";
import type { ContentSelection } from "../../extract/content/selection.ts";
import { selectorSchema } from "../../extract/fields/field-schema.ts";
import { actionsSchema, viewportSchema } from "./browser-settings.ts";
import { cookiesSchema } from "./cookies.ts";

/** A slot keeps every job away from the host until the next one: a lower rate would close it for all of them. */
export const MIN_RATE_RPS = 0.01;

/** Together: every message of the job carries them, and servers take no more. */
const MAX_HEADERS_LENGTH = 8_192;

/** What belongs to the connection or to this client, and is not for a job to set. */
export const OWN_HEADERS =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|accept-encoding|if-none-match|if-modified-since)$/i;

export const crawlConfigSchema = z.strictObject({
  /** Requests a second per host. `Crawl-delay`, `Retry-After` and a domain's own setting can only slow it down. */
  rate_limit_rps: z.number().min(MIN_RATE_RPS).max(10_000).optional(),
  respect_robots_txt: z.boolean().default(true),
  /** Extra request headers. */
  headers: z
    .record(
      z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "not the name of a header: letters, digits and hyphens"),
      z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, "holds characters that no header can: write them percent-encoded"),
    )
    .refine(
      (headers) => JSON.stringify(headers).length <= MAX_HEADERS_LENGTH,
      `hold over ${MAX_HEADERS_LENGTH} characters`,
    )
    .default({}),
  /** Tokens. A chunk of less than 24 could not hold every word. */
  chunk_size: z.int().min(24).max(8192).default(512),
  chunk_overlap: z.int().min(0).max(2048).default(50),
  min_chunk_size: z.int().min(0).max(2048).default(50),
  /**
   * Longest time for one page, redirects and body included. Left out: 30,000, of which no wait for headers or for the
   * next piece of a body may take more than the deployment allows.
   */
  page_timeout_ms: z.int().min(100).max(300_000).optional(),
  max_page_size_mb: z.number().positive().max(100).default(50),
  max_redirects: z.int().min(0).max(20).default(10),
  /** Languages whose pages become searchable; every page is archived. ISO 639-1; "*" means all. */
  languages: z
    .array(
      z
        .string()
        .regex(/^([a-z]{2,3}|\*|und)$/, 'not a language: a code of ISO 639 such as "en", "und", or "*" for all'),
    )
    .min(1)
    .max(50)
    .default(["en"]),
  /** Whether what is known as a session id is dropped from URLs, so that a page has one URL for all visits. */
  session_ids: z.enum(["strip", "keep"]).default("strip"),
  /** Further parameters that do not tell one page from another: dropped from URLs; case makes no difference. */
  ignore_parameters: z.array(z.string().min(1).max(100)).max(50).default([]),
  /** Whether a page is opened in a browser: `auto` where its HTML holds little text of its own. */
  render: z.enum(["never", "auto", "always"]).default("never"),
  /** Whether the text of PDFs is read, page by page; they are archived in any case. */
  pdf: z.enum(["archive", "read"]).default("archive"),
  /** CSS selector that must appear before a rendered page counts as loaded. */
  wait_for: z.string().min(1).max(500).optional(),
  /** The window of a page that is opened in a browser, in CSS pixels; left out: 1280 × 800, or that of a phone. */
  viewport: viewportSchema.optional(),
  /** Whether a page that is opened in a browser is shown as on a phone with a touch screen. */
  mobile: z.boolean().default(false),
  /** What is done in a page that is opened in a browser, before its DOM is taken. */
  actions: actionsSchema.default([]),
  /** Cookies for the hosts that they name. */
  cookies: cookiesSchema.default([]),
  /** Whether the cookies that a host sets are sent to it for the rest of the job. */
  session: z.boolean().default(false),
  /** CSS selectors of what is the content of a page, whole; none: its main content. */
  include_selectors: z.array(selectorSchema).max(20).default([]),
  /** CSS selectors of what is left out of the content. */
  exclude_selectors: z.array(selectorSchema).max(50).default([]),
  /** Whether navigation, footers and the like are left out of the content; not asked where `include_selectors` say. */
  only_main_content: z.boolean().default(true),
  /** Id of the proxy config whose servers the requests go through. */
  proxy_id: z.uuid().optional(),
});

export type CrawlConfig = z.infer<typeof crawlConfigSchema>;

/** Where a job says nothing. */
export const DEFAULT_PAGE_TIMEOUT_MS = 30_000;

export const pageTimeoutMs = ({ page_timeout_ms }: Pick<CrawlConfig, "page_timeout_ms">): number =>
  page_timeout_ms ?? DEFAULT_PAGE_TIMEOUT_MS;

/** More of a chunk could neither be repeated nor be asked for, whatever the text. */
const largestPartOf = (chunkSize: number): number => Math.floor(chunkSize / 2);

/**
 * The settings with the defaults of what they leave open: those of chunks go by their size.
 * @throws ZodError
 */
export function completeConfig(settings: Partial<CrawlConfig>): CrawlConfig {
  const config = crawlConfigSchema.parse(settings);
  const most = largestPartOf(config.chunk_size);
  const {
    chunk_overlap = Math.min(config.chunk_overlap, most),
    min_chunk_size = Math.min(config.min_chunk_size, most),
  } = settings;
  return { ...config, chunk_overlap, min_chunk_size };
}

type ChunkSizes = Pick<CrawlConfig, "chunk_size" | "chunk_overlap" | "min_chunk_size">;

/** What is wrong with sizes of which overlap or minimum are more than half of a chunk; undefined: nothing. */
export function faultOfSizes(sizes: ChunkSizes): string | undefined {
  const most = largestPartOf(sizes.chunk_size);
  const large = (["chunk_overlap", "min_chunk_size"] as const).find((name) => sizes[name] > most);
  if (large === undefined) return undefined;
  const half = `more than half of chunk_size (${sizes.chunk_size})`;
  return `${large} (${sizes[large]}) is ${half}: set it to ${most} at the most`;
}

/** What of a page these settings make its content. */
export function selectionOf(config: CrawlConfig): ContentSelection {
  const { include_selectors: include, exclude_selectors: exclude, only_main_content: mainOnly } = config;
  return { include, exclude, mainOnly };
}
