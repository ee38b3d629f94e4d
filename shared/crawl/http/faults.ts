/** Names what went wrong between us and a server, in the error codes of a capture. */
import { ProxyFault } from "../../access/proxy-tunnel.ts";
import { UrlRefusedError } from "../../access/url-inspection.ts";
import type { CaptureError, CaptureErrorCode } from "../../capture/capture.ts";

/** Transient faults: the URL is tried again. */
const RETRYABLE = new Set<CaptureErrorCode>([
  "CONNECT_FAILED",
  "CONNECT_TIMEOUT",
  "HEADERS_TIMEOUT",
  "BODY_TIMEOUT",
  "CONNECTION_RESET",
  "LENGTH_MISMATCH",
  "RATE_LIMITED",
  "ROBOTS_UNREACHABLE",
  "PROXY_UNAVAILABLE",
]);

/** Codes of Node and undici by what they mean here. */
const BY_CODE: Record<string, CaptureErrorCode> = {
  UND_ERR_CONNECT_TIMEOUT: "CONNECT_TIMEOUT",
  UND_ERR_HEADERS_TIMEOUT: "HEADERS_TIMEOUT",
  UND_ERR_BODY_TIMEOUT: "BODY_TIMEOUT",
  UND_ERR_HEADERS_OVERFLOW: "HEADERS_TOO_LARGE",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "LENGTH_MISMATCH",
  UND_ERR_SOCKET: "CONNECTION_RESET",
  UND_ERR_CLOSED: "CONNECTION_RESET",
  UND_ERR_DESTROYED: "CONNECTION_RESET",
  HPE_INVALID_EOF_STATE: "CONNECTION_RESET",
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
  ECONNRESET: "CONNECTION_RESET",
  EPIPE: "CONNECTION_RESET",
  ECONNABORTED: "CONNECTION_RESET",
  ECONNREFUSED: "CONNECT_FAILED",
  EHOSTUNREACH: "CONNECT_FAILED",
  ENETUNREACH: "CONNECT_FAILED",
  EADDRNOTAVAIL: "CONNECT_FAILED",
  ETIMEDOUT: "CONNECT_TIMEOUT",
  ENOTFOUND: "DNS_FAILURE",
  ENODATA: "DNS_FAILURE",
  EAI_AGAIN: "DNS_FAILURE",
  EAI_FAIL: "DNS_FAILURE",
};

const CLOSED = "The connection was closed before the whole response had come";

/** What the HTTP client says in words of its own. */
const OF_THE_CLIENT: Record<string, string> = {
  UND_ERR_CONNECT_TIMEOUT: "No connection came about within the time that is allowed for it",
  UND_ERR_HEADERS_TIMEOUT: "The server sent no response headers within the time that is allowed for them",
  UND_ERR_BODY_TIMEOUT: "The server paused in the body for longer than is allowed",
  UND_ERR_HEADERS_OVERFLOW: "The response headers are longer than is allowed",
  HPE_HEADER_OVERFLOW: "The response headers are longer than is allowed",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "The body is not as long as its Content-Length says",
  UND_ERR_SOCKET: CLOSED,
  UND_ERR_CLOSED: CLOSED,
  UND_ERR_DESTROYED: CLOSED,
  HPE_INVALID_EOF_STATE: CLOSED,
};

const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;

export function fault(code: CaptureErrorCode, message: string, retryable: boolean = RETRYABLE.has(code)): CaptureError {
  return { code, message, retryable };
}

/** @param phase what was under way when `error` came */
export function describeFault(error: unknown, phase: "connect" | "headers" | "body"): CaptureError {
  if (error instanceof UrlRefusedError) return fault("URL_BLOCKED", error.message);
  if (error instanceof ProxyFault) {
    return fault(error.code === "TARGET_UNREACHABLE" ? "CONNECT_FAILED" : "PROXY_UNAVAILABLE", error.message);
  }
  // one error per address tried
  if (error instanceof AggregateError && error.errors.length > 0) return describeFault(error.errors[0], phase);
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const message = error instanceof Error ? error.message : String(error);
  const named = `${message || code}${code === "" || message.includes(code) ? "" : ` (${code})`}`;
  const known = BY_CODE[code];
  const described = OF_THE_CLIENT[code];
  if (known !== undefined && described !== undefined) return fault(known, described);
  // a name that does not exist will not exist in four seconds either; a resolver that does not answer may
  if (known === "DNS_FAILURE") return fault(known, named, code === "EAI_AGAIN");
  if (known !== undefined) return fault(known, named);
  // what the HTTP client takes for granted, such as three digits of status, and says in its own source code
  if (code === "ERR_ASSERTION") return fault("INVALID_RESPONSE", "The response does not match the HTTP/1.1 protocol");
  if (TLS_CODE.test(code)) return fault("TLS_ERROR", named);
  return fault(phase === "connect" ? "CONNECT_FAILED" : "INVALID_RESPONSE", named);
}
