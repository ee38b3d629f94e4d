/** The routes by which lists of the archive leave as files. */
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { z } from "zod";
import { csvLines, jsonLines } from "../../shared/archive/exports/lines.ts";
import {
  CHANGE_COLUMNS,
  CHANGE_DICTIONARY,
  changeRows,
  type Row,
  SNAPSHOT_COLUMNS,
  SNAPSHOT_DICTIONARY,
  snapshotRows,
} from "../../shared/archive/exports/rows.ts";
import type { ListPart } from "../../shared/archive/snapshots/snapshots.ts";
import type { Sql } from "../../shared/platform/database/database.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute, headOf } from "../adapters/api/route.ts";
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { defineStreamRoute, StreamedResponse } from "../adapters/api/stream-route.ts";
import { dayParameter, daySpan } from "../adapters/api/times.ts";
import { baseOf } from "../adapters/archive/base-address.ts";
import { flagParameter, sourceParameter } from "../adapters/archive/parameters.ts";
import { publicReading, READING_HEADERS, UNCHANGED } from "../adapters/archive/public-reading.ts";
import { isOn, requireFeature } from "../adapters/archive/switched-off.ts";
import { type ArchiveExportsApi, archiveExportsApi } from "./dependencies.ts";

const open = (): boolean => archiveExportsApi().config.archivePublic;

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 10_000;
const FORMATS = ["jsonl", "ndjson", "csv"] as const;
const ABOUT = { snapshots: "Snapshots by rising id", changes: "Changes by rising id" } as const;
const PATHS = { snapshots: "/api/exports/snapshots", changes: "/api/exports/changes" } as const;

const listSchema = z.object({
  path: z.string(),
  description: z.string(),
  formats: z.array(z.string()),
  columns: z.array(z.object({ name: z.string(), type: z.string(), nullable: z.boolean(), about: z.string() })),
});

function listJson(name: keyof typeof PATHS, dictionary: readonly z.infer<typeof listSchema>["columns"][number][]) {
  const columns = dictionary.map((each) => ({ ...each }));
  return { path: PATHS[name], description: ABOUT[name], formats: [...FORMATS], columns };
}

const manifest = defineRoute(
  {
    method: "GET",
    path: "/api/exports",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "Which lists of the archive can be exported, and how; with what each column holds",
    response: z.object({
      enabled: z.boolean(),
      formats: z.array(z.string()),
      defaultLimit: z.int(),
      maxLimit: z.int(),
      snapshots: listSchema,
      changes: listSchema,
    }),
  },
  async (_, { config }: ArchiveExportsApi) => ({
    enabled: isOn(config, "exports"),
    formats: [...FORMATS],
    defaultLimit: DEFAULT_LIMIT,
    maxLimit: MAX_LIMIT,
    snapshots: listJson("snapshots", SNAPSHOT_DICTIONARY),
    changes: listJson("changes", CHANGE_DICTIONARY),
  }),
);

const query = z.object({
  format: z.enum(FORMATS).default("jsonl"),
  compressed: flagParameter.default(true),
  source: sourceParameter.optional(),
  afterId: numberParameter(z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0)),
  limit: numberParameter(z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT)),
  from: dayParameter.optional(),
  to: dayParameter.optional(),
});

interface List {
  name: keyof typeof PATHS;
  columns: readonly string[];
  rows(sql: Sql, part: ListPart, base: string): AsyncGenerator<Row>;
}

const exported = ({ name, columns, rows }: List) =>
  defineStreamRoute(
    {
      method: "GET",
      path: PATHS[name],
      errors: { 404: ["FEATURE_OFF"] },
      scope: "read",
      open,
      summary: ABOUT[name],
      query,
      headers: { "content-disposition": "The name of the file" },
      response: z.never(),
      streams: {
        "application/x-ndjson": z.record(z.string(), z.unknown()),
        "text/csv": z.string(),
        "application/gzip": z.string(),
      },
    },
    async ({ query: asked, event }, { sql, config }: ArchiveExportsApi) => {
      requireFeature(config, "exports");
      const { format, compressed, source, afterId: after, limit, from, to } = asked;
      const part: ListPart = {
        after,
        limit,
        source,
        ...daySpan(from, to),
      };
      const found = rows(sql, part, baseOf(event));
      const lines = format === "csv" ? csvLines(columns, found) : jsonLines(found);
      const file = `strandline-${name}.${format}${compressed ? ".gz" : ""}`;
      const plainType = format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson";
      return new StreamedResponse({
        contentType: compressed ? "application/gzip" : plainType,
        headers: { "content-disposition": `attachment; filename="${file}"` },
        chunks: compressed ? gzipped(lines) : lines,
      });
    },
  );

/** A list that breaks off is no whole gzip file. */
function gzipped(lines: AsyncIterable<string>): AsyncIterable<Uint8Array> {
  return pipeline(Readable.from(lines), createGzip(), () => {});
}

const routes = [
  manifest,
  exported({ name: "snapshots", columns: SNAPSHOT_COLUMNS, rows: snapshotRows }),
  exported({ name: "changes", columns: CHANGE_COLUMNS, rows: changeRows }),
];

export const api = createStreamApi("archive-exports-api", [...routes, ...routes.map(headOf)], archiveExportsApi, {
  around: publicReading(() => archiveExportsApi().config, Object.values(PATHS)),
  headers: READING_HEADERS,
  errors: "archive",
});
export const handler = api.handler;
