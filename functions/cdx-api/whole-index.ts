/** An index that is not whole answers nothing: who asks could not tell what it lacks. */
import { fillUrlKeys, hasCapturesWithoutKey } from "../../shared/archive/cdx/url-keys.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import type { CdxApi } from "./dependencies.ts";

/** For which a request waits while captures of an earlier version get their keys; maintenance does the rest. */
const FILL_MS = 3_000;

/** @throws ApiError 503 INDEX_INCOMPLETE */
export async function requireWholeIndex({ sql, flags }: CdxApi): Promise<void> {
  if (!(await hasCapturesWithoutKey(sql))) return;
  const ends = performance.now() + FILL_MS;
  await fillUrlKeys(sql, () => performance.now() < ends);
  if (!(await hasCapturesWithoutKey(sql))) return;
  await flags.markActive();
  const message = "Captures of an earlier version are not in the index yet: try again in a minute";
  throw new ApiError(503, message, { code: "INDEX_INCOMPLETE", headers: { "retry-after": "60" } });
}
