/** Redirects, followed by hand: each target is judged anew. */
import type { CaptureError } from "../../capture/capture.ts";
import { type HttpResponse, headerValue } from "./exchange.ts";
import { fault } from "./faults.ts";

const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308]);

export const isRedirect = (status: number): boolean => REDIRECT_STATUS.has(status);

/** @returns absolute http(s) URL without fragment, or the fault of the header */
export function redirectTarget(from: URL, headers: HttpResponse["headers"]): URL | CaptureError {
  const raw = headerValue(headers, "location");
  if (raw === undefined || raw.trim() === "") return fault("INVALID_REDIRECT", "The redirect names no Location");
  // headers are bytes; servers that do not encode their paths send UTF-8
  const location = new TextDecoder().decode(Buffer.from(raw.trim(), "latin1"));
  if (!URL.canParse(location, from.href)) return fault("INVALID_REDIRECT", "The Location of the redirect is no URL");
  const target = new URL(location, from);
  if (target.protocol !== "http:" && target.protocol !== "https:") {
    return fault("INVALID_REDIRECT", `The redirect leads to ${target.protocol} instead of http or https`);
  }
  target.hash = "";
  return target;
}
