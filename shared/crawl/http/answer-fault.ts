/** Why one page could not be had, as the answer to whoever asked for just that page. */
import type { CaptureError } from "../../capture/capture.ts";
import { ApiError } from "../../platform/errors.ts";

const REFUSED = /^(URL_BLOCKED|ROBOTS_DENIED|DOMAIN_BLOCKED|OUT_OF_SCOPE)$/;
const UNFIT = /^(UNSUPPORTED_TYPE|EMPTY_BODY|DECODE_FAILED|EXTRACT_FAILED)$/;
const LATE = /TIMEOUT$/;

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
