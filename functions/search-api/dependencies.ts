/** What the search API needs, built once per container. */
import type { SearchDependencies } from "../../shared/knowledge/search/search.ts";
import { openVectorSide } from "../../shared/knowledge/search/vector-side.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export interface SearchApi extends ApiContainer, SearchDependencies {}

export function searchDependencies(): SearchApi {
  const container = createApiContainer("search-api");
  return { ...container, vectorSide: openVectorSide(container.config) };
}
