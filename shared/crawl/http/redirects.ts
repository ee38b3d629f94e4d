/** Follows redirects by hand, so that each target is checked anew. */
import type { CaptureError } from "../../capture/capture.ts";
import { type Exchange, type HttpResponse, headerValue } from "./exchange.ts";
import { fault } from "./faults.ts";
import { createRedirectCookies, type RedirectCookies } from "./redirect-cookies.ts";

const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308]);

/** What came of asking for one URL. */
export type Reply = Pick<Exchange, "response" | "fault">;

/**
 * Asks for a URL and then for whatever its redirects lead to. What they set as cookies goes along, and a URL that is
 * come to again with other cookies is no loop.
 *
 * @param ask takes the value of the request's Cookie header, null for none
 * @param most redirects
 * @param onRedirect called for each redirect that names a target, whether it is followed or not
 * @param jar of the chain
 * @returns the last reply and the URL it is of; `strayed` where its fault is that of a redirect
 */
export async function followRedirects(
  start: URL,
  most: number,
  ask: (url: URL, cookies: string | null) => Promise<Reply>,
  onRedirect: (from: URL, status: number, target: URL) => void = () => undefined,
  jar: RedirectCookies = createRedirectCookies(),
): Promise<Reply & { url: URL; strayed: boolean }> {
  const visit = (to: URL): string => `${to.href}\n${jar.headerFor(to) ?? ""}`;
  const seen = new Set<string>();
  let url = start;
  for (;;) {
    seen.add(visit(url));
    const { response, fault: failure } = await ask(url, jar.headerFor(url));
    if (response === null || failure !== null || !isRedirect(response.status)) {
      return { url, response, fault: failure, strayed: false };
    }
    jar.take(url, response.headers);
    const strayed = (error: CaptureError) => ({ url, response, fault: error, strayed: true });
    const target = redirectTarget(url, response.headers);
    if (!(target instanceof URL)) return strayed(target);
    onRedirect(url, response.status, target);
    if (seen.has(visit(target))) return strayed(fault("REDIRECT_LOOP", `The redirects lead back to ${target.href}`));
    if (seen.size > most) return strayed(fault("TOO_MANY_REDIRECTS", `More than ${most} redirects`));
    url = target;
  }
}

/** Headers are bytes: those beyond ASCII are sent back to the server as they came, whatever encoding it thinks in. */
export const urlOfHeader = (value: string): string =>
  value.trim().replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);

export const isRedirect = (status: number): boolean => REDIRECT_STATUS.has(status);

/** @returns absolute http(s) URL without fragment, or the fault of the header */
export function redirectTarget(from: URL, headers: HttpResponse["headers"]): URL | CaptureError {
  const raw = headerValue(headers, "location");
  if (raw === undefined || raw.trim() === "") return fault("INVALID_REDIRECT", "The redirect names no Location");
  const location = urlOfHeader(raw);
  if (!URL.canParse(location, from.href)) return fault("INVALID_REDIRECT", "The Location of the redirect is no URL");
  const target = new URL(location, from);
  if (target.protocol !== "http:" && target.protocol !== "https:") {
    return fault("INVALID_REDIRECT", `The redirect leads to ${target.protocol} instead of http or https`);
  }
  target.hash = "";
  return target;
}
