/** A search as the routes run it: measured, with what is missing of it logged. */
import { measured } from "../../shared/knowledge/metrics.ts";
import { wantsVectors } from "../../shared/knowledge/search/expected-vectors.ts";
import type { SearchRequest } from "../../shared/knowledge/search/search-request.ts";
import type { Logger } from "../../shared/platform/observability/log.ts";
import type { SearchApi } from "./dependencies.ts";

/** @throws ApiError where no side answers */
export async function searched(api: SearchApi, log: Logger, asked: SearchRequest) {
  const found = await measured(log, asked.mode, async () => {
    const { answer, cached } = await api.answers.search(api, asked);
    return { ...answer, cached };
  });
  const { missing } = found.answer;
  for (const { side, code, cause } of missing) {
    log.warn("a search was answered without one of its sides", { side, code, error: cause });
  }
  // they who make them sleep where no job is unfinished
  if (missing.some(({ code }) => wantsVectors(code))) await api.flags.markActive();
  return found;
}
