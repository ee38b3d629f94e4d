/** A later page of a search: hits of the ranking that its cursor holds, as far as they are still there. */
import type { Sql } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { decodeRest, encodeRest } from "./cursor.ts";
import { analyseQuery, marksOfQuery } from "./keyword-search.ts";
import { parseQuery } from "./query-syntax.ts";
import { describe, visibleHits } from "./results.ts";
import type { SearchAnswer, SearchRequest } from "./search-request.ts";
import { openSnapshot } from "./search-version.ts";
import { LONE_WAIT_MS, missingSide, outcomeOf, searchError } from "./sides.ts";

/**
 * Nothing is ranked anew. What was removed, or no longer passes the filters, makes room for the hits behind it.
 * @throws ApiError CURSOR_EXPIRED where nothing of the rest is left
 */
export async function nextPage(sql: Sql, request: SearchRequest, cursor: string): Promise<SearchAnswer> {
  const { limit, filter = {}, expand = false } = request;
  const { hits, ...header } = decodeRest(request, cursor);
  const page = sql.begin("isolation level repeatable read read only", async (tx) => {
    const snapshot = await openSnapshot(sql, tx, LONE_WAIT_MS);
    const keywords = await analyseQuery(tx, parseQuery(request.query), snapshot);
    const visible = await visibleHits(tx, hits, null, filter, "chunks");
    if (visible.length === 0) throw expired();
    const results = await describe(tx, visible.slice(0, limit), marksOfQuery(keywords), expand);
    const rest = visible.slice(limit);
    const next = rest.length === 0 ? null : encodeRest(request, { ...header, hits: rest });
    const missing = header.missing.map(({ side, code }) => missingSide(side, code, undefined));
    return { ...header, missing, facets: null, queryRemembered: false, results, version: snapshot.version, next };
  });
  const outcome = await outcomeOf("keyword", page);
  if ("missing" in outcome) throw searchError(outcome.missing);
  return outcome.value;
}

const expired = () =>
  new ApiError(410, "What the next pages would show was replaced or removed meanwhile: search again, without cursor", {
    code: "CURSOR_EXPIRED",
    details: { field: "cursor" },
  });
