/**
 * A capture is one observation of one URL, wherever it comes from: a plain fetch, a rendered page, an uploaded WARC
 * record. Every origin yields this value and enters by the same queue.
 */
import { z } from "zod";

const hex32 = z.string().regex(/^[0-9a-f]{64}$/);

/** How the bytes of a record are compressed; `none` is a WARC file of plain records. */
const WARC_CODINGS = ["gzip", "zstd", "none"] as const;
export type WarcCoding = (typeof WARC_CODINGS)[number];

/** Where a record lies: as a rule one gzip member of a WARC file, so that it is read by one ranged GET. */
export const warcPlaceSchema = z.strictObject({
  /** Bytes from the start of the file, and compressed bytes of the record. */
  offset: z.number().int().nonnegative(),
  length: z.number().int().positive(),
  /** Left out: gzip. */
  coding: z.enum(WARC_CODINGS).optional(),
  /** Of a record that does not begin its member: decompressed bytes before it. */
  inner: z.number().int().positive().optional(),
});
export type WarcPlace = z.infer<typeof warcPlaceSchema>;

const warcPointerSchema = warcPlaceSchema.extend({
  key: z.string(),
  /** UUID of the WARC-Record-ID; the whole URI where it is none of `urn:uuid:`. */
  recordId: z.string().min(1),
});

export const captureErrorSchema = z.strictObject({
  /** One of `CAPTURE_ERROR_CODES`, or `HTTP_<status>`. */
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  /** Milliseconds for which another try would be in vain. */
  retryAfterMs: z.number().int().nonnegative().optional(),
});

const refersToSchema = z.strictObject({
  recordId: z.string().nullable(),
  /** Of the URL that it names, or else of its own. */
  urlHash: hex32,
  /** ISO 8601. */
  date: z.string().nullable(),
});

const renderingSchema = z.strictObject({
  /** What `auto` saw in the HTML, or `always`. */
  reason: z.string(),
  /** Null where none came to it. */
  renderer: z.enum(["chromium", "crawl4ai", "pdfjs"]).nullable(),
  /** The DOM as a `conversion` record; null where there is none: then the text is that of the response. */
  warc: warcPointerSchema.nullable(),
  error: captureErrorSchema.nullable(),
});

const extractionSchema = z.strictObject({
  title: z.string().nullable(),
  language: z.string(),
  canonicalUrl: z.string().nullable(),
  metadata: z.strictObject({
    author: z.string().nullable(),
    description: z.string().nullable(),
    keywords: z.array(z.string()),
    ogImage: z.string().nullable(),
    publishDate: z.string().nullable(),
  }),
  links: z.array(z.string()),
  anchors: z.array(z.string()).optional(),
  text: z.string(),
  markdown: z.string(),
  sections: z.array(
    z.strictObject({
      heading: z.string().nullable(),
      level: z.number().int(),
      start: z.number().int(),
      end: z.number().int(),
      parent: z.number().int().nullable(),
    }),
  ),
  blocks: z.array(
    z.strictObject({
      kind: z.enum(["prose", "code", "table", "list"]),
      start: z.number().int(),
      end: z.number().int(),
    }),
  ),
  robots: z.strictObject({ noindex: z.boolean(), nofollow: z.boolean() }),
});

export const captureSchema = z.strictObject({
  /** The URL as it stands in the frontier, and its key there: SHA-256 of the normalised URL, hex. */
  url: z.string(),
  urlHash: hex32,
  finalUrl: z.string(),
  /** Each redirect answered on the way, in order. */
  redirects: z.array(z.strictObject({ url: z.string(), status: z.number().int() })),
  depth: z.number().int().nonnegative(),
  /** 0 where no answer came. */
  status: z.number().int(),
  /** Of the final response, names in lower case, in the order received; repeated names repeat. */
  headers: z.array(z.tuple([z.string(), z.string()])),
  /** Essence of the media type, lower case; null where there is none. */
  mimeType: z.string().nullable(),
  /** WHATWG encoding name of the text; null where the body is no text. */
  charset: z.string().nullable(),
  /** ISO 8601 UTC with milliseconds. */
  fetchedAt: z.iso.datetime(),
  fetchTimeMs: z.number().nonnegative(),
  /** Bytes of the payload as received, content coding included. */
  payloadBytes: z.number().int().nonnegative(),
  /** `sha256:` and hex, over the payload as received; null where there is none. */
  payloadDigest: z.string().nullable(),
  truncated: z.boolean(),
  /** Asked for although robots.txt forbids it. */
  disallowed: z.boolean().optional(),
  /** The server answered 304: the earlier capture still holds. */
  notModified: z.boolean(),
  /** Id of the capture that holds the response, where the record of this one is a revisit of it. */
  revisitOf: z.number().int().nullable(),
  /** Of a revisit record that somebody else wrote: what it says of its original. */
  refersTo: refersToSchema.optional(),
  /** The payload digest that somebody else's record states, with its algorithm. */
  statedDigest: z.string().optional(),
  /** Where the page was opened in a browser: why, by what, and the record of its DOM. */
  rendered: renderingSchema.nullable(),
  warc: warcPointerSchema.nullable(),
  extraction: extractionSchema.nullable(),
  error: captureErrorSchema.nullable(),
});

export type WarcPointer = z.infer<typeof warcPointerSchema>;
export type CaptureError = z.infer<typeof captureErrorSchema>;
export type Rendering = z.infer<typeof renderingSchema>;
export type Capture = z.infer<typeof captureSchema>;

/**
 * Why a URL has no page. `skipped` codes mean that no request was made for the page, or that its answer was out of
 * bounds by our own rules; all others are failures.
 */
export const CAPTURE_ERROR_CODES = {
  DNS_FAILURE: "failed",
  CONNECT_FAILED: "failed",
  CONNECT_TIMEOUT: "failed",
  HEADERS_TIMEOUT: "failed",
  BODY_TIMEOUT: "failed",
  CONNECTION_RESET: "failed",
  TLS_ERROR: "failed",
  INVALID_RESPONSE: "failed",
  HEADERS_TOO_LARGE: "failed",
  LENGTH_MISMATCH: "failed",
  DECODE_FAILED: "failed",
  TOO_MANY_REDIRECTS: "failed",
  REDIRECT_LOOP: "failed",
  INVALID_REDIRECT: "failed",
  URL_BLOCKED: "failed",
  UNSUPPORTED_TYPE: "failed",
  EMPTY_BODY: "failed",
  EXTRACT_FAILED: "failed",
  RATE_LIMITED: "failed",
  ROBOTS_UNREACHABLE: "failed",
  PROXY_UNAVAILABLE: "failed",
  DEAD_LETTERED: "failed",
  TASK_REFUSED: "failed",
  ROBOTS_DENIED: "skipped",
  OUT_OF_SCOPE: "skipped",
  DOMAIN_BLOCKED: "skipped",
  CIRCUIT_OPEN: "failed",
  CANCELLED: "skipped",
  TIMEOUT: "skipped",
  BUDGET_EXHAUSTED: "skipped",
  HOST_BUDGET_EXHAUSTED: "skipped",
  QUOTA_EXCEEDED: "skipped",
  DUPLICATE_CONTENT: "skipped",
  TRAP_PATH: "skipped",
  TRAP_QUERY: "skipped",
  TRAP_CALENDAR: "skipped",
} as const satisfies Record<string, "failed" | "skipped">;

export type CaptureErrorCode = keyof typeof CAPTURE_ERROR_CODES;
