/** What the routes of the archive's readers have in common: caches, and pages of other origins. */
import type { MiddlewareHandler } from "hono";
import type { Config } from "../../../shared/platform/config.ts";
import { ApiError } from "../../../shared/platform/errors.ts";
import { sha256 } from "../../../shared/platform/ids.ts";

/** Characters; API Gateway takes request lines with all headers up to 10,240 bytes. */
const LONGEST_URL = 8_192;
/** Seconds for which an answer may be kept that another capture may change. */
const FRESH_S = 300;

/** What `publicReading` adds to answers, for the OpenAPI document. */
export const READING_HEADERS = {
  "x-api-version": "Of the interface: 1",
  "access-control-allow-origin": "The pages that may read it",
  "access-control-expose-headers": "What of the head they may read",
  "cache-control": "How long it may be kept, and by whom",
  etag: "Names what is answered: 304 to an If-None-Match that holds it",
};

/** Its answer beside those of a route. */
export const UNCHANGED = { 304: "What If-None-Match names is what would be answered" };

/**
 * Good answers get an `ETag`, and are not sent again to who has them (RFC 9110, section 13.1.2). Pages of the
 * configured origins may read them (the CORS protocol of the Fetch standard).
 * @param config called for every request
 */
export function publicReading(
  config: () => Pick<Config, "archivePublic" | "archiveCorsOrigins">,
  uncached: readonly string[] = [],
): MiddlewareHandler {
  return async (c, next) => {
    const { url } = c.req;
    if (url.length > LONGEST_URL) {
      const message = `The URL has ${url.length} characters: at most ${LONGEST_URL} are taken`;
      throw new ApiError(414, message, { code: "URI_TOO_LONG", headers: { "cache-control": "no-store" } });
    }
    await next();
    const { archivePublic, archiveCorsOrigins } = config();
    const headers = new Headers(c.res.headers);
    const origin = c.req.header("origin");
    if (archiveCorsOrigins.includes("*")) headers.set("access-control-allow-origin", "*");
    else {
      headers.append("vary", "origin");
      if (origin !== undefined && archiveCorsOrigins.includes(origin))
        headers.set("access-control-allow-origin", origin);
    }
    headers.set("access-control-expose-headers", "ETag, Content-Range, X-Request-Id, X-API-Version");
    headers.set("x-api-version", "1");
    const { status } = c.res;
    if (status !== 200 || uncached.includes(c.req.path)) {
      if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
      c.res = new Response(c.res.body, { status, headers });
      return;
    }
    if (!headers.has("cache-control")) headers.set("cache-control", cacheFor(archivePublic, FRESH_S));
    if (headers.has("etag")) {
      c.res = new Response(c.res.body, { status, headers });
      return;
    }
    const body = await c.res.arrayBuffer();
    const etag = `"${sha256(new Uint8Array(body)).toString("base64url").slice(0, 27)}"`;
    headers.set("etag", etag);
    const known = holdsTag(c.req.header("if-none-match"), etag);
    // they are of the body that is not sent (RFC 9110, section 15.4.5)
    if (known) for (const name of ["content-length", "content-type"]) headers.delete(name);
    c.res = known ? new Response(null, { status: 304, headers }) : new Response(body, { status, headers });
  };
}

/** Whoever needs a key may not find the answer in a cache that others use. */
export const cacheFor = (isPublic: boolean, seconds: number): string =>
  `${isPublic ? "public" : "private"}, max-age=${seconds}`;

/** Of `If-None-Match`; weak tags count as strong ones do. */
export function holdsTag(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((each) => each.trim() === "*" || each.trim().replace(/^W\//, "") === etag);
}
