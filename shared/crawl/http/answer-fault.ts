/** Why one page could not be had, as the answer to whoever asked for just that page. */
import type { CaptureError } from "../../capture/capture.ts";
import { ApiError } from "../../platform/errors.ts";

const REFUSED = /^(URL_BLOCKED|ROBOTS_DENIED|DOMAIN_BLOCKED|OUT_OF_SCOPE)$/;
const UNFIT = /^(UNSUPPORTED_TYPE|EMPTY_BODY|DECODE_FAILED|EXTRACT_FAILED)$/;
const LATE = /TIMEOUT$/;

/** Codes that tell of the site, or of the way to it: nothing that we could mend. */
const OF_THE_SITE =
  /^(HTTP_\d{3}|[A-Z_]+_TIMEOUT|DNS_FAILURE|CONNECT_FAILED|CONNECTION_RESET|TLS_ERROR|INVALID_RESPONSE|HEADERS_TOO_LARGE|LENGTH_MISMATCH|(TOO_MANY|INVALID)_REDIRECTS?|RATE_LIMITED|ROBOTS_UNREACHABLE|CIRCUIT_OPEN|HOST_BUSY|PROXY_UNAVAILABLE)$/;

/** Whether the answer of that code tells of a fault of the site. */
export const isFaultOfTheSite = (code: string): boolean => OF_THE_SITE.test(code);

/** @param status that the site answered with; 0 where it did not */
export function pageFault(
  { code, message, retryable }: Pick<CaptureError, "code" | "message"> & { retryable?: boolean },
  status: number,
): ApiError {
  const answerStatus = REFUSED.test(code) ? 403 : UNFIT.test(code) ? 422 : LATE.test(code) ? 504 : 502;
  const details = {
    path: "url",
    ...(retryable !== undefined && { retryable }),
    ...(status > 0 && { site_status: status }),
  };
  return new ApiError(answerStatus, `url: ${message}`, { code, details });
}
