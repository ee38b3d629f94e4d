/** Whether what one job made of a page is what another would make of it. */
import type { Queryable } from "../../platform/database/database.ts";
import type { CrawlConfig } from "../settings/crawl-config.ts";

/** Settings that change neither what is captured nor what becomes searchable of it. */
const PACE_SETTINGS = ["rate_limit_rps", "page_timeout_ms"];

/** A condition for the job `j`, by SQL: it ran with these settings, but for the pace. */
export const madeWithSettings = (sql: Queryable, config: CrawlConfig) => sql`
  (j.settings->'config') - ${PACE_SETTINGS}::text[] = ${JSON.stringify(config)}::text::jsonb - ${PACE_SETTINGS}::text[]`;
