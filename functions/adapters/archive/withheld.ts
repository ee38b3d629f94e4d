/** Answers for what readers of the archive are not shown. */
import { type Withheld, withheldCapture, withheldUrl } from "../../../shared/archive/exclusions/is-shown.ts";
import type { Queryable } from "../../../shared/platform/database/database.ts";
import { ApiError } from "../../../shared/platform/errors.ts";

const withheldError = (withheld: Withheld, what: string): ApiError =>
  withheld === "excluded"
    ? new ApiError(451, `${what} is excluded from the archive's readers`, { code: "EXCLUDED" })
    : new ApiError(403, `${what} is not shown yet: captures become readable as they grow older`, { code: "EMBARGOED" });

/** @throws ApiError 451 or 403 where one of the captures is withheld */
export async function requireShown(sql: Queryable, ids: readonly number[]): Promise<void> {
  const withheld = await withheldCapture(sql, ids);
  if (withheld !== undefined) throw withheldError(withheld, `The snapshot ${ids.join(" or ")}`);
}

/**
 * @param isFound whether there are captures that are shown: an embargo may withhold younger ones
 * @throws ApiError 451 or 403 where that is why there is nothing of a URL
 */
export async function requireShownUrl(sql: Queryable, url: string, isFound: boolean): Promise<void> {
  const withheld = await withheldUrl(sql, url);
  if (withheld === "excluded" || (withheld === "embargoed" && !isFound)) throw withheldError(withheld, url);
}
