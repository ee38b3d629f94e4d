/** The error of a request that was not made. */
import type { CaptureErrorCode } from "../../capture/capture.ts";
import { fault } from "./faults.ts";

/** No request was made, for a reason that ends the URL, or this try of it. */
export class RequestRefused extends Error {
  readonly fault;

  /** @param retryMs until another try makes sense; undefined: none does, unless the code says so */
  constructor(code: CaptureErrorCode, message: string, retryMs?: number) {
    super(message);
    this.name = "RequestRefused";
    this.fault =
      retryMs === undefined
        ? fault(code, message)
        : { ...fault(code, message, true), retryAfterMs: Math.ceil(retryMs) };
  }
}
