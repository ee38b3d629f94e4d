/** A URL of a request, judged by the URL guard. */
import { type UrlInspector, UrlRefusedError } from "../../shared/access/url-inspection.ts";
import { ApiError } from "../../shared/platform/errors.ts";

/**
 * The URL as the guard read it.
 * @param path of the field that holds it, e.g. `urls[3]`: the URL itself may hold a password
 * @throws ApiError 400 URL_INVALID or 403 URL_BLOCKED that names the field
 */
export function judgedUrl(inspector: UrlInspector, url: string, path: string): string {
  try {
    return inspector.inspect(url).href;
  } catch (error) {
    if (!(error instanceof UrlRefusedError)) throw error;
    throw refusedUrl(error, path, URL.parse(url)?.host);
  }
}

/** The answer for a URL that the guard has refused. */
export function refusedUrl(error: UrlRefusedError, path: string, host?: string): ApiError {
  return new ApiError(error.code === "URL_BLOCKED" ? 403 : 400, `${path}: ${error.message}`, {
    code: error.code,
    cause: error,
    details: { path, ...(host && { host }) },
  });
}
