/** The routes that tell of sources and their editions, and the one that makes sources. */
import { z } from "zod";
import { previewUrl } from "../../shared/archive/editions/preview-urls.ts";
import { readPreview } from "../../shared/archive/editions/previews.ts";
import { baselineSources, SOURCE_LANGUAGES, sourceSchema } from "../../shared/archive/editions/source.ts";
import {
  listEditions,
  listSources,
  readEntry,
  type SourceStatistics,
  seedSources,
  sourceStatistics,
} from "../../shared/archive/editions/sources.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { UNCHANGED } from "../adapters/archive/public-reading.ts";
import { type EditionsApi, editionsApi } from "./dependencies.ts";
import {
  type Entry,
  editionJson,
  editionSchema,
  registeredSourceJson,
  registeredSourceSchema,
  sourceSummaryJson,
  sourceSummarySchema,
} from "./source-json.ts";

const open = (): boolean => editionsApi().config.archivePublic;

/** Milliseconds for which statistics are given again: they take a look at every snapshot. */
const STATISTICS_KEPT_MS = 60_000;
let counted: { at: number; of: EditionsApi["sql"]; statistics: ReturnType<typeof sourceStatistics> } | undefined;

/** Whoever asks while they are counted waits for the same. */
export async function statistics(sql: EditionsApi["sql"]): ReturnType<typeof sourceStatistics> {
  if (counted === undefined || Date.now() - counted.at > STATISTICS_KEPT_MS) {
    counted = { at: Date.now(), of: sql, statistics: sourceStatistics(sql) };
    counted.statistics.catch(() => {
      counted = undefined;
    });
  }
  return await counted.statistics;
}

type Language = (typeof SOURCE_LANGUAGES)[number];
const lang = z.enum(SOURCE_LANGUAGES).default("en");

/** The page that visitors begin with: in their language, else in another one. */
function entryUrl({ entryPages }: Pick<SourceStatistics, "entryPages">, language: Language): string | undefined {
  return entryPages[language] ?? SOURCE_LANGUAGES.map((each) => entryPages[each]).find((url) => url !== undefined);
}

async function entryOf(
  { sql }: EditionsApi,
  source: SourceStatistics,
  language: Language,
  jobId?: number,
): Promise<Entry | undefined> {
  const url = entryUrl(source, language);
  return url === undefined ? undefined : await readEntry(sql, { code: source.code, url, jobId });
}

async function summaryOf(api: EditionsApi, source: SourceStatistics, language: Language) {
  const { code, entryPages } = source;
  const entry = await entryOf(api, source, language);
  const preview = Object.keys(entryPages).length === 0 ? undefined : await readPreview(api.sql, { code, language });
  return sourceSummaryJson(source, entry, {
    replayUrl: api.config.archiveReplayUrl,
    previewUrl: preview === undefined ? null : previewUrl(code, preview),
  });
}

export const list = defineRoute(
  {
    method: "GET",
    path: "/api/sources",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "Sources of which there are snapshots, with their totals; hosts that belong to none stand behind them",
    query: z.object({ lang }),
    response: z.array(sourceSummarySchema),
  },
  async ({ query: { lang } }, api: EditionsApi) => {
    const all = [];
    for (const each of await statistics(api.sql)) {
      all.push(await summaryOf(api, each, lang));
    }
    return all;
  },
);

export const codeParams = z.strictObject({
  code: z
    .string()
    .min(1)
    .max(255)
    .transform((text) => text.toLowerCase()),
});

async function existing({ sql }: EditionsApi, code: string): Promise<SourceStatistics> {
  const found = (await statistics(sql)).find((each) => each.code === code);
  if (found !== undefined) return found;
  const message = `There is no source ${code} with snapshots: GET /api/sources lists them`;
  throw new ApiError(404, message, { code: "NOT_FOUND" });
}

export const show = defineRoute(
  {
    method: "GET",
    path: "/api/sources/{code}",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "One source with its totals",
    params: codeParams,
    query: z.object({ lang }),
    response: sourceSummarySchema,
  },
  async ({ params: { code }, query: { lang } }, api: EditionsApi) => {
    const source = await existing(api, code);
    return await summaryOf(api, source, lang);
  },
);

export const editions = defineRoute(
  {
    method: "GET",
    path: "/api/sources/{code}/editions",
    scope: "read",
    open,
    otherwise: UNCHANGED,
    summary: "What each archive job of a source has captured, newest first",
    params: codeParams,
    query: z.object({ lang }),
    response: z.array(editionSchema),
  },
  async ({ params: { code }, query: { lang } }, api: EditionsApi) => {
    const source = await existing(api, code);
    const all = [];
    for (const each of await listEditions(api.sql, code)) {
      all.push(editionJson(each, await entryOf(api, source, lang, each.jobId), api.config.archiveReplayUrl));
    }
    return all;
  },
);

export const registered = defineRoute(
  {
    method: "GET",
    path: "/api/admin/sources",
    scope: "admin",
    summary: "The registry of sources",
    response: z.object({ items: z.array(registeredSourceSchema) }),
  },
  async (_, { sql }: EditionsApi) => ({ items: (await listSources(sql)).map(registeredSourceJson) }),
);

export const seed = defineRoute(
  {
    method: "POST",
    path: "/api/admin/sources",
    scope: "admin",
    summary: "Write sources, all or none; without any, those that an archive begins with, where they are not there yet",
    body: z.strictObject({
      sources: z
        .array(sourceSchema)
        .min(1)
        .max(100)
        .refine((all) => new Set(all.map(({ code }) => code)).size === all.length, "has a code twice")
        .optional(),
    }),
    response: z.object({
      created: z.array(z.string()),
      updated: z.array(z.string()),
      unchanged: z.array(z.string()),
    }),
  },
  async ({ body: { sources }, caller, log }, { sql, inspector }: EditionsApi) => {
    const seeded = await seedSources(sql, sources ?? baselineSources(), { inspector, keep: sources === undefined });
    log.info("sources were written", { ...seeded, by: caller.keyId });
    return seeded;
  },
);
