/** Search over the archive's snapshots. */
import { z } from "zod";
import { timestampOf } from "../../shared/archive/replay/timestamp.ts";
import { breadthOf } from "../../shared/archive/search/query-language.ts";
import {
  type ArchiveResults,
  type ArchiveSearch,
  type Found,
  searchArchive,
} from "../../shared/archive/search/search-archive.ts";
import { searchUses } from "../../shared/archive/usage/usage.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute, headOf } from "../adapters/api/route.ts";
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { dayParameter, daySpan } from "../adapters/api/times.ts";
import { noteUse } from "../adapters/archive/noted-use.ts";
import { flagParameter, pageParameter, sourceParameter } from "../adapters/archive/parameters.ts";
import { publicReading, READING_HEADERS, UNCHANGED } from "../adapters/archive/public-reading.ts";
import { requireFeature } from "../adapters/archive/switched-off.ts";
import { type ArchiveSearchApi, archiveSearchApi } from "./dependencies.ts";

const open = (): boolean => archiveSearchApi().config.archivePublic;

const LONGEST_QUERY = 256;

/** Parameters that it does not know are let be: links and feeds are passed on with some. */
const query = z.object({
  q: z.string().max(LONGEST_QUERY).optional(),
  source: sourceParameter.optional(),
  sort: z.enum(["relevance", "newest"]).optional(),
  view: z.enum(["snapshots", "pages"]).default("snapshots"),
  includeNon2xx: flagParameter.default(false),
  includeDuplicates: flagParameter.default(false),
  from: dayParameter.optional(),
  to: dayParameter.optional(),
  page: pageParameter,
  pageSize: numberParameter(z.int().min(1).max(100).default(20)),
  ranking: z.enum(["v1", "v2"]).default("v2"),
});

const resultSchema = z.object({
  id: z.int(),
  title: z.string().nullable(),
  sourceCode: z.string(),
  sourceName: z.string(),
  language: z.string().nullable(),
  captureDate: z.iso.date(),
  captureTimestamp: z.iso.datetime(),
  jobId: z.int(),
  originalUrl: z.string(),
  snippet: z.string().nullable(),
  rawSnapshotUrl: z.string(),
  pageSnapshotsCount: z.int().nullable(),
  browseUrl: z.string().nullable(),
});

const listed = { total: z.int(), page: z.int(), pageSize: z.int() };

async function run(
  { sql }: ArchiveSearchApi,
  asked: z.output<typeof query>,
): Promise<{ search: ArchiveSearch; found: ArchiveResults }> {
  const { q = "", sort, from, to, page, pageSize, ...rest } = asked;
  const search: ArchiveSearch = {
    ...rest,
    query: q,
    sort: sort ?? (q.trim() === "" ? "newest" : "relevance"),
    ...daySpan(from, to),
    limit: pageSize,
    offset: (page - 1) * pageSize,
  };
  return { search, found: await searchArchive(sql, search) };
}

function resultJson(found: Found, replayUrl: string): z.infer<typeof resultSchema> {
  const { id, title, source, sourceName, language, capturedAt, jobId, url, snippet, pageSnapshots } = found;
  const captureTimestamp = capturedAt.toISOString();
  return {
    id,
    title,
    sourceCode: source,
    sourceName,
    language: language === "und" ? null : language,
    captureDate: captureTimestamp.slice(0, 10),
    captureTimestamp,
    jobId,
    originalUrl: url,
    snippet,
    rawSnapshotUrl: `/api/snapshots/raw/${id}`,
    pageSnapshotsCount: pageSnapshots,
    browseUrl: replayUrl === "" ? null : `${replayUrl}/${timestampOf(capturedAt)}/${url}`,
  };
}

/** What cannot be read as a query is a search, too, and no fault of ours. */
async function counted<Outcome extends { found: ArchiveResults }>(
  api: ArchiveSearchApi,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const began = performance.now();
  let mode: string | undefined;
  try {
    const outcome = await work();
    mode = outcome.found.mode;
    return outcome;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) mode = "refused";
    throw error;
  } finally {
    await noteUse(api, searchUses(performance.now() - began, mode));
  }
}

const search = defineRoute(
  {
    method: "GET",
    path: "/api/search",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "Snapshots, or the latest of each page, that a query finds",
    query,
    response: z.object({ results: z.array(resultSchema), ...listed }),
  },
  async ({ query: asked }, api: ArchiveSearchApi) => {
    requireFeature(api.config, "search");
    const { found } = await counted(api, () => run(api, asked));
    const { page, pageSize } = asked;
    const results = found.results.map((each) => resultJson(each, api.config.archiveReplayUrl));
    return { results, total: found.total, page, pageSize };
  },
);

const debug = defineRoute(
  {
    method: "GET",
    path: "/api/admin/search-debug",
    scope: "admin",
    summary: "The same as `GET /api/search`, with what each result's place comes from",
    query,
    response: z.object({
      results: z.array(
        resultSchema.extend({
          statusCode: z.int(),
          normalizedUrlGroup: z.string(),
          inlinkCount: z.int(),
          rankText: z.number(),
          titleBoost: z.number(),
          archivedPenalty: z.number(),
          queryPenalty: z.number(),
          trackingPenalty: z.number(),
          depthPenalty: z.number(),
          authorityBoost: z.number(),
          hubnessBoost: z.number(),
          pagerankBoost: z.number(),
          totalScore: z.number(),
        }),
      ),
      ...listed,
      mode: z.string(),
      view: z.string(),
      sort: z.string(),
      rankingVersion: z.string(),
      queryMode: z.enum(["broad", "mixed", "specific"]).nullable(),
    }),
  },
  async ({ query: asked }, api: ArchiveSearchApi) => {
    const { search: made, found } = await run(api, asked);
    const results = found.results.map((each) => {
      const { rankText, titleBoost, archivedPenalty, queryPenalty, trackingPenalty, depthPenalty, authorityBoost } =
        each;
      const parts = {
        rankText,
        titleBoost,
        archivedPenalty,
        queryPenalty,
        trackingPenalty,
        depthPenalty,
        authorityBoost,
      };
      const all = { ...parts, hubnessBoost: 0, pagerankBoost: 0 };
      const totalScore = Object.values(all).reduce((sum, part) => sum + part, 0);
      const { status: statusCode, page: normalizedUrlGroup, inlinks: inlinkCount } = each;
      const result = resultJson(each, api.config.archiveReplayUrl);
      return { ...result, statusCode, normalizedUrlGroup, inlinkCount, ...all, totalScore };
    });
    const { page, pageSize, view, ranking } = asked;
    const { sort } = made;
    const queryMode = breadthOf(made.query);
    const how = { mode: found.mode, view, sort, rankingVersion: ranking, queryMode };
    return { results, total: found.total, page, pageSize, ...how };
  },
);

export const api = createStreamApi("archive-search-api", [search, headOf(search), debug], archiveSearchApi, {
  around: publicReading(() => archiveSearchApi().config, ["/api/admin/search-debug"]),
  headers: READING_HEADERS,
  errors: "archive",
});
export const handler = api.handler;
