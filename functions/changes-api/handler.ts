/** The routes that tell what changed between captures of pages. */
import { z } from "zod";
import { listChanges, readChange } from "../../shared/archive/changes/change-events.ts";
import { compareAny } from "../../shared/archive/changes/compare-any.ts";
import { CHANGES_VERSION } from "../../shared/archive/changes/compare-lines.ts";
import { compareLive } from "../../shared/archive/changes/compare-live.ts";
import { DIFF_LAYOUTS, diffHtml } from "../../shared/archive/changes/diff-html.ts";
import { withLiveSlot } from "../../shared/archive/changes/live-slots.ts";
import { readSnapshot } from "../../shared/archive/snapshots/snapshots.ts";
import { LIVE_TEXTS } from "../../shared/crawl/tasks/live-page.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { ApiResponse, defineRoute, headOf } from "../adapters/api/route.ts";
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { defineStreamRoute, onePiece, StreamedResponse } from "../adapters/api/stream-route.ts";
import { dayParameter, daySpan } from "../adapters/api/times.ts";
import { baseOf } from "../adapters/archive/base-address.ts";
import { flagParameter, pageParameter, sourceParameter } from "../adapters/archive/parameters.ts";
import { publicReading, READING_HEADERS, UNCHANGED } from "../adapters/archive/public-reading.ts";
import { isOn, requireFeature } from "../adapters/archive/switched-off.ts";
import { requireShown } from "../adapters/archive/withheld.ts";
import { PAGE_FAULTS } from "../adapters/crawling/page-faults.ts";
import { changeJson, changeSchema, comparedJson, comparedSchema } from "./change-json.ts";
import { type ChangesApi, changesApi } from "./dependencies.ts";
import { fetchSchema, liveNames, liveNamesSchema, statsSchema } from "./live-names.ts";
import { rssFeed } from "./rss.ts";

const open = (): boolean => changesApi().config.archivePublic;

const source = sourceParameter.optional();
const id = numberParameter(z.int().positive().max(Number.MAX_SAFE_INTEGER));

const list = defineRoute(
  {
    method: "GET",
    path: "/api/changes",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "What captures brought, newest first; without source, job or date: of the latest job of each source",
    query: z.object({
      source,
      jobId: id.optional(),
      latest: flagParameter.optional(),
      includeUnchanged: flagParameter.default(false),
      from: dayParameter.optional(),
      to: dayParameter.optional(),
      page: pageParameter,
      pageSize: numberParameter(z.int().min(1).max(100).default(20)),
    }),
    response: z.object({
      enabled: z.boolean(),
      total: z.int(),
      page: z.int(),
      pageSize: z.int(),
      results: z.array(changeSchema),
    }),
  },
  async ({ query: { page, pageSize, from, to, latest, ...query } }, { sql, config }: ChangesApi) => {
    if (!isOn(config, "changes")) return { enabled: false, total: 0, page, pageSize, results: [] };
    const isUnbound = [query.source, query.jobId, from, to].every((each) => each === undefined);
    const filter = {
      ...query,
      latest: latest ?? isUnbound,
      ...daySpan(from, to),
    };
    const { total, events } = await listChanges(sql, filter, { limit: pageSize, offset: (page - 1) * pageSize });
    return { enabled: true, total, page, pageSize, results: events.map(changeJson) };
  },
);

const compare = defineRoute(
  {
    method: "GET",
    path: "/api/changes/compare",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary:
      "What one capture brought, or what it has that any earlier one of its page had not, with the difference as HTML",
    query: z.object({
      toSnapshotId: id,
      fromSnapshotId: id.optional(),
      layout: z.enum(DIFF_LAYOUTS).default("unified"),
    }),
    response: z.object({
      event: changeSchema,
      fromSnapshot: comparedSchema.nullable(),
      toSnapshot: comparedSchema,
      diffFormat: z.string().nullable(),
      diffHtml: z.string().nullable(),
      diffTruncated: z.boolean(),
      diffVersion: z.string().nullable(),
      normalizationVersion: z.string().nullable(),
    }),
  },
  async ({ query: { toSnapshotId, fromSnapshotId, layout } }, api: ChangesApi) => {
    const { sql } = api;
    requireFeature(api.config, "changes");
    const toSnapshot = await readSnapshot(sql, toSnapshotId);
    if (toSnapshot === undefined) {
      throw new ApiError(404, `There is no snapshot ${toSnapshotId}`, { code: "NOT_FOUND" });
    }
    await requireShown(sql, [toSnapshotId]);
    const known = await readChange(sql, toSnapshotId, fromSnapshotId);
    const earlier = known === undefined ? fromSnapshotId : known.fromId;
    const fromSnapshot = earlier == null ? undefined : await readSnapshot(sql, earlier);
    if (fromSnapshot !== undefined) await requireShown(sql, [fromSnapshot.id]);
    const event = known ?? (fromSnapshot && (await compareAny(api, fromSnapshot, toSnapshot)));
    if (event === undefined) throw notCompared(toSnapshotId, fromSnapshotId);
    const { diff, isCut } = event;
    return {
      event: changeJson(event),
      fromSnapshot: fromSnapshot === undefined ? null : comparedJson(fromSnapshot),
      toSnapshot: comparedJson(toSnapshot),
      diffFormat: diff === null ? null : "html",
      diffHtml: diff === null ? null : diffHtml(diff, layout),
      diffTruncated: isCut,
      diffVersion: diff === null ? null : `v${CHANGES_VERSION}`,
      normalizationVersion: diff === null ? null : `v${event.version}`,
    };
  },
);

function notCompared(toId: number, fromId: number | undefined): ApiError {
  const message =
    fromId === undefined
      ? `The snapshot ${toId} has not been compared with an earlier one yet: try again in a minute`
      : `The snapshot ${fromId} is no earlier page of what the snapshot ${toId} is of: leave fromSnapshotId out`;
  return new ApiError(404, message, { code: "NOT_COMPARED" });
}

const ITEMS = 50;

const rss = defineStreamRoute(
  {
    method: "GET",
    path: "/api/changes/rss",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: `The newest ${ITEMS} changes as RSS 2.0`,
    query: z.object({ source }),
    response: z.never(),
    streams: { "application/rss+xml": z.string() },
  },
  async ({ query, event }, { sql, config }: ChangesApi) => {
    requireFeature(config, "changes");
    const filter = { source: query.source, latest: false, includeUnchanged: false };
    const { events } = await listChanges(sql, filter, { limit: ITEMS, offset: 0 });
    const feed = rssFeed(events, query.source ?? null, {
      base: baseOf(event),
      replayUrl: config.archiveReplayUrl,
    });
    return new StreamedResponse({ contentType: "application/rss+xml; charset=utf-8", chunks: onePiece(feed) });
  },
);

/** For the live page: the rest of the function's time is for the comparison and the answer. */
const LIVE_MS = 20_000;

const compareWithLive = defineStreamRoute(
  {
    method: "GET",
    path: "/api/snapshots/{id}/compare-live",
    scope: "read",
    open,
    errors: {
      400: ["URL_BLOCKED", "URL_INVALID"],
      422: PAGE_FAULTS[422],
      502: [...PAGE_FAULTS[403], ...PAGE_FAULTS[502], ...PAGE_FAULTS[504], "REMOTE_TIMEOUT"],
      503: PAGE_FAULTS[503],
    },
    summary: "A snapshot compared with its page as it is now; at most four at once",
    params: z.strictObject({ id }),
    query: z.object({
      /** The main content, or all that the page shows. */
      mode: z.enum(LIVE_TEXTS).default("main"),
      layout: z.enum(DIFF_LAYOUTS).default("unified"),
    }),
    response: z.object({
      snapshot: comparedSchema,
      live: z.object({
        ...fetchSchema.shape,
        title: z.string().nullable(),
        truncated: z.boolean(),
      }),
      mode: z.enum(LIVE_TEXTS),
      changeType: z.enum(["updated", "unchanged"]),
      ...statsSchema.shape,
      diffFormat: z.string(),
      diffHtml: z.string(),
      diffTruncated: z.boolean(),
      ...liveNamesSchema.shape,
    }),
    headers: { "x-robots-tag": "That search engines keep nothing of it" },
  },
  async ({ params: { id }, query: { mode, layout }, signal }, api: ChangesApi) => {
    requireFeature(api.config, "compare-live");
    const { snapshot, compared } = await withLiveSlot(api.slots, async () => {
      const snapshot = await readSnapshot(api.sql, id);
      if (snapshot === undefined) throw new ApiError(404, `There is no snapshot ${id}`, { code: "NOT_FOUND" });
      await requireShown(api.sql, [id]);
      const compared = await compareLive(api, snapshot, { text: mode, withinMs: LIVE_MS, gone: signal });
      return { snapshot, compared };
    });
    const { live, kind, summary, highNoise, difference } = compared;
    const { hunks, isCut, ...counts } = difference;
    const stats = { ...counts, summary, highNoise };
    const shown = {
      requestedUrl: snapshot.url,
      finalUrl: live.finalUrl,
      statusCode: live.status,
      contentType: live.mimeType,
      fetchedAt: live.fetchedAt,
      title: live.title,
      truncated: live.cut,
    };
    const html = diffHtml(hunks, layout);
    return new ApiResponse(
      200,
      {
        snapshot: comparedJson(snapshot),
        live: shown,
        mode,
        changeType: kind,
        ...stats,
        diffFormat: "html",
        diffHtml: html,
        diffTruncated: isCut,
        ...liveNames(snapshot, { live: shown, mode, stats, html, isCut }),
      },
      { "cache-control": "no-store", "x-robots-tag": "noindex, nofollow" },
    );
  },
);

const routes = [list, compare, rss];

// a HEAD would ask the site as well
export const api = createStreamApi("changes-api", [...routes, ...routes.map(headOf), compareWithLive], changesApi, {
  around: publicReading(() => changesApi().config),
  headers: READING_HEADERS,
  errors: "archive",
});
export const handler = api.handler;
