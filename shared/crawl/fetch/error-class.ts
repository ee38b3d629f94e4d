/** What kind of trouble an error code of a capture means: few enough to be counted by. */
import type { CaptureErrorCode } from "../../capture/capture.ts";

export const ERROR_CLASSES = [
  "dns",
  "connect",
  "timeout",
  "broken",
  "redirect",
  "http_4xx",
  "http_5xx",
  "http_other",
  "rate_limited",
  "robots",
  "circuit_open",
  "proxy",
  "content",
  "out_of_bounds",
  "stopped",
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

const CLASS_OF: Record<CaptureErrorCode, ErrorClass> = {
  DNS_FAILURE: "dns",
  CONNECT_FAILED: "connect",
  TLS_ERROR: "connect",
  CONNECT_TIMEOUT: "timeout",
  HEADERS_TIMEOUT: "timeout",
  BODY_TIMEOUT: "timeout",
  CONNECTION_RESET: "broken",
  INVALID_RESPONSE: "broken",
  HEADERS_TOO_LARGE: "broken",
  LENGTH_MISMATCH: "broken",
  TOO_MANY_REDIRECTS: "redirect",
  REDIRECT_LOOP: "redirect",
  INVALID_REDIRECT: "redirect",
  RATE_LIMITED: "rate_limited",
  ROBOTS_DENIED: "robots",
  ROBOTS_UNREACHABLE: "robots",
  CIRCUIT_OPEN: "circuit_open",
  PROXY_UNAVAILABLE: "proxy",
  DECODE_FAILED: "content",
  UNSUPPORTED_TYPE: "content",
  EMPTY_BODY: "content",
  EXTRACT_FAILED: "content",
  DUPLICATE_CONTENT: "content",
  URL_BLOCKED: "out_of_bounds",
  OUT_OF_SCOPE: "out_of_bounds",
  DOMAIN_BLOCKED: "out_of_bounds",
  TRAP_PATH: "out_of_bounds",
  TRAP_QUERY: "out_of_bounds",
  TRAP_CALENDAR: "out_of_bounds",
  CANCELLED: "stopped",
  TIMEOUT: "stopped",
  BUDGET_EXHAUSTED: "stopped",
  HOST_BUDGET_EXHAUSTED: "stopped",
  DEAD_LETTERED: "stopped",
};

/** @param code one of `CAPTURE_ERROR_CODES`, or `HTTP_<status>` */
export function errorClassOf(code: string): ErrorClass {
  if (Object.hasOwn(CLASS_OF, code)) return CLASS_OF[code as CaptureErrorCode];
  if (code.startsWith("HTTP_4")) return "http_4xx";
  return code.startsWith("HTTP_5") ? "http_5xx" : "http_other";
}
