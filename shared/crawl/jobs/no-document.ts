/** Why a URL of a job has no searchable page. */
import { NOT_INDEXED } from "../../knowledge/documents/not-indexed.ts";
import type { Queryable } from "../../platform/database/database.ts";

/**
 * `not_asked`: the job makes no page searchable; `duplicate`: too many URLs of the job have this page; the others: see
 * `whyNotIndexed`.
 */
export const NO_DOCUMENT = [...NOT_INDEXED, "not_asked", "duplicate"] as const;
export type NoDocument = (typeof NO_DOCUMENT)[number];

/** Of the frontier URL `f` of the job `j` with the capture `c`; null where it has one, or ended otherwise. */
export const noDocument = (sql: Queryable) => sql`
  case
    when f.error_code = 'DUPLICATE_CONTENT' then 'duplicate'
    when f.state <> 'crawled' then null
    when j.settings->>'index' = 'false' then 'not_asked'
    else c.not_indexed
  end`;
