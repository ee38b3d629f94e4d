/** The routes that sum up the system and each domain, at a price that does not grow with the archive. */
import { z } from "zod";
import { listDomainCounts } from "../../shared/crawl/administration/domain-counts.ts";
import { readOpenWork } from "../../shared/crawl/jobs/open-work.ts";
import { countRows } from "../../shared/platform/database/table-size.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DomainsApi } from "./dependencies.ts";
import { domainPosition, urlCountsJson, urlCountsSchema } from "./domain-json.ts";

const count = z.int().nonnegative();
const TABLES = ["jobs", "captures", "documents", "chunks", "domain_counts", "domain_settings", "dead_letters"] as const;
const tableSchema = z.object({
  rows: count,
  /** From the statistics of the database, which lag behind; exact up to 10,000. */
  estimated: z.boolean(),
});

export const systemStats = defineRoute(
  {
    method: "GET",
    path: "/api/v1/stats",
    scope: "read",
    summary: "How much there is, and how much is under way",
    response: z.object({
      /** Jobs that have not ended, by state, and what is left of them. */
      open: z.object({
        jobs: z.object({ pending: count, running: count, embedding: count }),
        urls: count,
        unembedded_chunks: count,
      }),
      tables: z.object(
        Object.fromEntries(TABLES.map((table) => [table, tableSchema])) as Record<Table, typeof tableSchema>,
      ),
    }),
  },
  async (_, { sql }: DomainsApi) => {
    const tables = {} as Record<Table, z.input<typeof tableSchema>>;
    for (const table of TABLES) tables[table] = await countRows(sql, table);
    return { open: await readOpenWork(sql), tables };
  },
);
type Table = (typeof TABLES)[number];

export const domainStats = defineRoute(
  {
    method: "GET",
    path: "/api/v1/stats/domains",
    scope: "read",
    summary: "What became of the URLs of each domain, over all jobs, in order of name",
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(500).default(50)),
      cursor: cursorParameter(domainPosition),
    }),
    response: z.object({
      items: z.array(urlCountsSchema.extend({ domain: z.string() })),
      next_cursor: z.string().nullable(),
      has_more: z.boolean(),
    }),
  },
  async ({ query: { limit, cursor } }, { sql }: DomainsApi) => {
    const found = await listDomainCounts(sql, { limit: limit + 1, after: cursor });
    return cursorPage(
      found.map((counts) => ({ domain: counts.domain, ...urlCountsJson(counts) })),
      limit,
      ({ domain }) => domain,
    );
  },
);
