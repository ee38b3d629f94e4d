/** Checks of the URLs that a request names, before anything is done with them. */
import { inspectUrl, type UrlInspector, type UrlRefusedError } from "../../../shared/access/url-inspection.ts";
import { ApiError } from "../../../shared/platform/errors.ts";

/**
 * The URL as the guard read it.
 * @param path where it stands in the request, e.g. `urls[3]`
 * @throws ApiError 400 URL_INVALID or 403 URL_BLOCKED that says which URL it is
 */
export function checkedUrl(inspector: UrlInspector, url: string, path: string): string {
  const checked = inspectUrl(inspector, url);
  if (checked instanceof URL) return checked.href;
  throw refusedUrl(checked, path, hostOf(url));
}

/** Names the field and its host, never the URL itself: that may hold a password. */
export function refusedUrl(error: UrlRefusedError, path: string, host?: string): ApiError {
  const blocked = error.code === "URL_BLOCKED";
  return new ApiError(blocked ? 403 : 400, `${path}: ${error.message}`, {
    code: blocked ? "URL_BLOCKED" : "URL_INVALID",
    cause: error,
    details: { path, ...(host !== undefined && { host }) },
  });
}

/** undefined where it has none. */
export const hostOf = (url: string): string | undefined => URL.parse(url)?.host || undefined;
