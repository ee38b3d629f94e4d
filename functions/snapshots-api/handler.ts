/** The routes by which front ends read the archive: its totals, snapshots of pages, and what servers sent. */
import { z } from "zod";
import { readPreviewUrls } from "../../shared/archive/editions/preview-urls.ts";
import { byteRange } from "../../shared/archive/replay/byte-range.ts";
import { nearestCaptures } from "../../shared/archive/replay/nearest.ts";
import { contentTypeOf, readPayload } from "../../shared/archive/replay/payload.ts";
import { timeOf } from "../../shared/archive/replay/timestamp.ts";
import {
  countArchive,
  countJobs,
  readLatest,
  readSnapshot,
  readTimeline,
  type Snapshot,
  snapshotOf,
} from "../../shared/archive/snapshots/snapshots.ts";
import { isMissingFromArchive } from "../../shared/crawl/results/archived-content.ts";
import { ApiError, PermanentError } from "../../shared/platform/errors.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { ApiResponse, defineRoute, headOf } from "../adapters/api/route.ts";
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { defineStreamRoute, StreamedResponse } from "../adapters/api/stream-route.ts";
import { browseUrl } from "../adapters/archive/browse-url.ts";
import { noteUse } from "../adapters/archive/noted-use.ts";
import { flagParameter } from "../adapters/archive/parameters.ts";
import { cacheFor, holdsTag, publicReading, READING_HEADERS, UNCHANGED } from "../adapters/archive/public-reading.ts";
import { requireShown, requireShownUrl } from "../adapters/archive/withheld.ts";
import { type SnapshotsApi, snapshotsApi } from "./dependencies.ts";
import { snapshotJson, snapshotSchema, timelineJson, timelineSchema } from "./snapshot-json.ts";

const open = (): boolean => snapshotsApi().config.archivePublic;
const HEALTH = "/api/health";

const health = defineRoute(
  {
    method: "GET",
    path: HEALTH,
    scope: "public",
    otherwise: { 500: "The database does not answer" },
    summary: "Whether the archive answers, with its jobs by state; 500 where the database does not",
    response: z.object({
      status: z.enum(["ok", "error"]),
      checks: z.object({
        db: z.enum(["ok", "error"]),
        jobs: z.record(z.string(), z.int()).optional(),
        snapshots: z.object({ total: z.int() }).optional(),
      }),
    }),
  },
  async ({ log }, { sql }: SnapshotsApi) => {
    try {
      const jobs = await countJobs(sql);
      const { snapshots } = await totals(sql);
      const checks = { db: "ok" as const, jobs, snapshots: { total: snapshots } };
      return { status: "ok" as const, checks };
    } catch (error) {
      log.error("the database does not answer", { error });
      return new ApiResponse(500, { status: "error" as const, checks: { db: "error" as const } });
    }
  },
);

/** Milliseconds for which counts of the whole archive are given again. */
const COUNTS_KEPT_MS = 60_000;
let counted: { at: number; totals: ReturnType<typeof countArchive> } | undefined;

/** Whoever asks while they are counted waits for the same. */
async function totals(sql: SnapshotsApi["sql"]): ReturnType<typeof countArchive> {
  if (counted === undefined || Date.now() - counted.at > COUNTS_KEPT_MS) {
    counted = { at: Date.now(), totals: countArchive(sql) };
    counted.totals.catch(() => {
      counted = undefined;
    });
  }
  return await counted.totals;
}

const stats = defineRoute(
  {
    method: "GET",
    path: "/api/stats",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "Totals of the archive, a minute old at the most",
    response: z.object({
      snapshotsTotal: z.int(),
      pagesTotal: z.int(),
      sourcesTotal: z.int(),
      latestCaptureDate: z.iso.date().nullable(),
      latestCaptureAgeDays: z.int().nullable(),
    }),
  },
  async (_, { sql }: SnapshotsApi) => {
    const { snapshots, pages, sources, latest } = await totals(sql);
    return {
      snapshotsTotal: snapshots,
      pagesTotal: pages,
      sourcesTotal: sources,
      latestCaptureDate: latest?.toISOString().slice(0, 10) ?? null,
      latestCaptureAgeDays: latest === null ? null : Math.max(0, Math.floor((Date.now() - latest.getTime()) / DAY_MS)),
    };
  },
);

const DAY_MS = 86_400_000;

const params = z.strictObject({ id: numberParameter(z.int().positive().max(Number.MAX_SAFE_INTEGER)) });

const detail = defineRoute(
  {
    method: "GET",
    path: "/api/snapshot/{id}",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "A snapshot: one capture of an HTML page",
    params,
    response: snapshotSchema,
  },
  async ({ params: { id } }, dependencies: SnapshotsApi) => {
    const snapshot = await existing(dependencies, id);
    await noteUse(dependencies, { snapshotDetailViews: 1 });
    return snapshotJson(snapshot, dependencies.config.archiveReplayUrl);
  },
);

const MOST_OF_A_TIMELINE = 1_000;

const timeline = defineRoute(
  {
    method: "GET",
    path: "/api/snapshots/{id}/timeline",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: `The newest ${MOST_OF_A_TIMELINE} snapshots of the same page, oldest first unless told otherwise`,
    params,
    query: z.object({ order: z.enum(["oldest", "newest"]).default("oldest") }),
    response: timelineSchema,
  },
  async ({ params: { id }, query: { order } }, dependencies: SnapshotsApi) => {
    const snapshot = await existing(dependencies, id);
    const all = await readTimeline(dependencies.sql, snapshot.page, MOST_OF_A_TIMELINE);
    const ids = all.map((each) => each.id);
    const previews = await readPreviewUrls(dependencies.sql, ids);
    const { archiveReplayUrl: replayUrl } = dependencies.config;
    const timeline = timelineJson(snapshot, { snapshots: all, previews, replayUrl });
    return order === "oldest" ? timeline : { ...timeline, snapshots: timeline.snapshots.toReversed() };
  },
);

const latest = defineRoute(
  {
    method: "GET",
    path: "/api/snapshots/{id}/latest",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "The newest good capture of the same page",
    params,
    query: z.object({ requireHtml: flagParameter.default(true) }),
    response: z.object({
      found: z.boolean(),
      snapshotId: z.int().nullable(),
      captureTimestamp: z.iso.datetime().nullable(),
      mimeType: z.string().nullable(),
    }),
  },
  async ({ params: { id }, query: { requireHtml } }, dependencies: SnapshotsApi) => {
    const { page } = await existing(dependencies, id);
    const found = await readLatest(dependencies.sql, page, requireHtml);
    return {
      found: found !== undefined,
      snapshotId: found?.id ?? null,
      captureTimestamp: found?.capturedAt.toISOString() ?? null,
      mimeType: found?.mimeType ?? null,
    };
  },
);

const resolve = defineRoute(
  {
    method: "GET",
    path: "/api/replay/resolve",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "The capture of a URL that is nearest to a time",
    query: z.object({
      url: z.url({ protocol: /^https?$/ }).max(10_000),
      timestamp: z
        .string()
        .refine((text) => timeOf(text) !== undefined, "must be a time of 4 to 14 digits, as in 20260102030405")
        .optional(),
      jobId: z
        .string()
        .regex(/^(\d{1,18}|[0-9a-f-]{36})$/)
        .optional(),
    }),
    response: z.object({
      found: z.boolean(),
      snapshotId: z.int().nullable(),
      captureTimestamp: z.iso.datetime().nullable(),
      resolvedUrl: z.string().nullable(),
      browseUrl: z.string().nullable(),
      mimeType: z.string().nullable(),
    }),
  },
  async ({ query: { url, timestamp, jobId } }, { sql, config }: SnapshotsApi) => {
    const at = timeOf(timestamp ?? "") ?? new Date();
    const [found] = await nearestCaptures(sql, url, at, { jobId });
    await requireShownUrl(sql, url, found !== undefined);
    return {
      found: found !== undefined,
      snapshotId: (found && (await snapshotOf(sql, found.id))) ?? null,
      captureTimestamp: found?.capturedAt.toISOString() ?? null,
      resolvedUrl: found?.finalUrl ?? null,
      browseUrl: found === undefined ? null : browseUrl(config.archiveReplayUrl, found.finalUrl, found.capturedAt),
      mimeType: found?.mimeType ?? null,
    };
  },
);

/** Seconds: what was captured does not change. */
const A_YEAR_S = 31_536_000;

/** Shown on the API's origin, so nothing of it may run there, or ask for anything. */
const INERT =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'";

const raw = defineStreamRoute(
  {
    method: "GET",
    path: "/api/snapshots/raw/{id}",
    scope: "read",
    open,
    otherwise: { ...UNCHANGED, 206: "The range of bytes that was asked for" },
    errors: { 404: ["DECODE_FAILED", "NOT_ARCHIVED", "ORIGINAL_MISSING", "WARC_INVALID", "WARC_MISSING"] },
    summary: "What the server sent for a snapshot, byte for byte, its content coding undone; takes byte ranges",
    params,
    headers: {
      "accept-ranges": "That ranges of bytes are answered",
      "content-range": "Which bytes these are, with 206, or how many there are, with 416",
      "content-security-policy": "That nothing of the page may run here",
      "x-content-type-options": "That it is what its media type says",
      "x-archive-truncated": "True where the archive holds no more than the beginning",
    },
    response: z.never(),
    streams: { "text/html": z.string() },
  },
  async ({ params: { id }, header, event }, dependencies: SnapshotsApi) => {
    await existing(dependencies, id);
    const etag = `"snapshot-${id}"`;
    const cached = { etag, "cache-control": cacheFor(dependencies.config.archivePublic, A_YEAR_S) };
    if (holdsTag(header("if-none-match"), etag)) return new ApiResponse(304, null, cached);
    const payload = await readPayload(dependencies, id).catch((error: unknown) => {
      throw isMissingFromArchive(error) ? notArchived(error) : error;
    });
    if (payload === undefined) throw notFound(id);
    const { body, cut } = payload;
    // RFC 9110, sections 13.1.5 and 14.2: for GET alone, and for the same body alone
    const isRanged = event?.httpMethod !== "HEAD" && (header("if-range") ?? etag) === etag;
    const range = isRanged ? byteRange(header("range"), body.length) : undefined;
    if (range === "beyond") {
      throw new ApiError(416, `The body has ${body.length} bytes, and none of them lies in that range`, {
        code: "RANGE_NOT_SATISFIABLE",
        headers: { "content-range": `bytes */${body.length}` },
      });
    }
    await noteUse(dependencies, { rawSnapshotViews: 1 });
    const part = range === undefined ? body : body.subarray(range.first, range.last + 1);
    return new StreamedResponse({
      status: range === undefined ? 200 : 206,
      contentType: contentTypeOf(payload),
      headers: {
        ...cached,
        "accept-ranges": "bytes",
        "content-length": String(part.length),
        "content-security-policy": INERT,
        "x-content-type-options": "nosniff",
        ...(range === undefined ? {} : { "content-range": `bytes ${range.first}-${range.last}/${body.length}` }),
        ...(cut ? { "x-archive-truncated": "true" } : {}),
      },
      chunks: inPieces(part),
    });
  },
);

const PIECE_BYTES = 256 * 1024;

async function* inPieces(body: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

function notArchived(error: Error): ApiError {
  const code = error instanceof PermanentError ? error.code : "NOT_ARCHIVED";
  return new ApiError(404, `The archive does not hold what was sent for this snapshot: ${error.message}`, {
    code,
    cause: error,
  });
}

const notFound = (id: number): ApiError => new ApiError(404, `There is no snapshot ${id}`, { code: "NOT_FOUND" });

async function existing({ sql }: SnapshotsApi, id: number): Promise<Snapshot & { snippet: string | null }> {
  const found = await readSnapshot(sql, id);
  if (found === undefined) throw notFound(id);
  await requireShown(sql, [id]);
  return found;
}

const routes = [health, stats, detail, raw, timeline, latest, resolve];

export const api = createStreamApi("snapshots-api", [...routes, ...routes.map(headOf)], snapshotsApi, {
  around: publicReading(() => snapshotsApi().config, [HEALTH]),
  headers: READING_HEADERS,
  errors: "archive",
});
export const handler = api.handler;
