/** The routes that show the caches (their size, how often they had what was asked for) and clear them. */
import { z } from "zod";
import { parseDomain } from "../../shared/crawl/administration/domain-name.ts";
import { clearCrawlCache, crawlCacheClearedAt } from "../../shared/crawl/frontier/crawl-cache.ts";
import { ROBOTS_TTL_MS } from "../../shared/crawl/robots/cache.ts";
import { clearEmbeddingCache } from "../../shared/knowledge/documents/maintenance.ts";
import { noteSearchChange } from "../../shared/knowledge/search/search-version.ts";
import { readCacheUse } from "../../shared/platform/database/cache-counts.ts";
import { countRows, tableBytes } from "../../shared/platform/database/table-size.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DomainsApi } from "./dependencies.ts";
import { domainParams } from "./domains.ts";

const clearedSchema = z.object({ cleared: z.array(z.string()), cleared_at: z.iso.datetime(), message: z.string() });

export const clearCrawl = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/cache/crawl",
    scope: "admin",
    summary: "No capture of before is used again instead of a request; all of them stay in the archive",
    response: clearedSchema,
  },
  async (_, { sql }: DomainsApi) => {
    const at = await clearCrawlCache(sql, "*");
    return { cleared: ["crawl"], cleared_at: at.toISOString(), message: "Captures stay in the archive" };
  },
);

export const clearQueries = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/cache/query",
    scope: "admin",
    summary: "Every search is answered anew",
    response: clearedSchema,
  },
  async (_, { sql }: DomainsApi) => {
    await noteSearchChange(sql);
    const message = "Every search is answered anew; answers never outlive what they were read from";
    return { cleared: ["query"], cleared_at: new Date().toISOString(), message };
  },
);

export const clearEmbeddings = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/cache/embeddings",
    scope: "admin",
    summary: "Empty the embedding cache; vectors that are stored stay",
    response: clearedSchema,
  },
  async (_, { sql }: DomainsApi) => {
    await clearEmbeddingCache(sql);
    const message = "Vectors that are stored stay; the next text of the same content is embedded anew";
    return { cleared: ["embeddings"], cleared_at: new Date().toISOString(), message };
  },
);

export const clearDomain = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/cache/domain/{domain}",
    scope: "admin",
    summary: "Clear what is cached of a domain: its captures are not used again, its robots.txt is fetched anew",
    params: domainParams,
    response: clearedSchema,
  },
  async ({ params }, { sql, robots }: DomainsApi) => {
    const domain = parseDomain(params.domain);
    const at = await clearCrawlCache(sql, domain);
    for (const scheme of ["http", "https"]) await robots.forget(`${scheme}://${domain}`);
    const message = "Captures stay in the archive; robots.txt is fetched anew within five minutes";
    return { cleared: ["crawl", "robots"], cleared_at: at.toISOString(), message };
  },
);

const count = z.int().nonnegative();
const useSchema = { hits: count, misses: count, ttl_s: count };

export const cacheStats = defineRoute(
  {
    method: "GET",
    path: "/api/v1/cache/stats",
    scope: "read",
    summary: "How often each cache had what was asked for, and how large it is",
    response: z.object({
      /** It holds nothing of its own but uses captures of the archive, which are not counted by age. */
      crawl: z.object({ ...useSchema, cleared_at: z.iso.datetime().nullable() }),
      embeddings: z.object({
        ...useSchema,
        entries: count,
        /** From the statistics of the database, which lag behind. */
        entries_estimated: z.boolean(),
        bytes: count,
      }),
      robots: z.object({ ttl_s: count }),
      /** Kept in each container, which alone knows its size. */
      query: z.object({ ttl_s: count }),
    }),
  },
  async (_, { sql, config }: DomainsApi) => {
    const { rows, estimated } = await countRows(sql, "embedding_cache");
    return {
      crawl: {
        ...(await readCacheUse(sql, "crawl")),
        ttl_s: config.crawlCacheTtlS,
        cleared_at: (await crawlCacheClearedAt(sql))?.toISOString() ?? null,
      },
      embeddings: {
        ...(await readCacheUse(sql, "embeddings")),
        ttl_s: config.embeddingCacheTtlS,
        entries: rows,
        entries_estimated: estimated,
        bytes: await tableBytes(sql, "embedding_cache"),
      },
      robots: { ttl_s: ROBOTS_TTL_MS / 1000 },
      query: { ttl_s: config.answerCacheTtlS },
    };
  },
);
