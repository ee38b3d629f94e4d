/** Says what this API is, and gives its reference and its OpenAPI document. */
import { z } from "zod";
import { ApiError } from "../../shared/platform/errors.ts";
import { once } from "../../shared/platform/once.ts";
import { operationPage } from "../../shared/reference/operation-page.ts";
import { entranceOf, entrancePage, operationsPage } from "../../shared/reference/overview-pages.ts";
import { createApi } from "../adapters/api/api.ts";
import { ApiResponse } from "../adapters/api/route.ts";
import { defineStreamRoute, onePiece, StreamedResponse } from "../adapters/api/stream-route.ts";
import { baseOf } from "../adapters/archive/base-address.ts";
import { createDocsApi, type DocsApi, FILE_TYPES } from "./dependencies.ts";

const HTML = "text/html; charset=utf-8";

/** Pages load their own script and style, ask their own origin, and no text becomes markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

const CACHE_HEADERS = {
  etag: "Names what it is: sent as `If-None-Match`, the answer is 304 where it is still that",
  "cache-control": "That it is to be asked for each time",
};
const NOT_MODIFIED = { 304: "It is what `If-None-Match` names" } as const;

interface Asked {
  header(name: string): string | undefined;
}

/** A text, or that it is still what the client has. */
function unlessKnown({ header }: Asked, { etagOf }: DocsApi, contentType: string, text: string) {
  const headers = { etag: etagOf(text), "cache-control": "no-cache" };
  const known = (header("if-none-match") ?? "").split(",").map((each) => each.trim());
  if (known.includes("*") || known.some((each) => opaque(each) === opaque(headers.etag))) {
    return new ApiResponse(304, null, headers);
  }
  return new StreamedResponse({ contentType, chunks: onePiece(text), headers });
}

/** RFC 9110, 8.8.3.2: for GET the weak comparison. */
const opaque = (etag: string): string => etag.replace(/^W\//, "");

const entrance = defineStreamRoute(
  {
    method: "GET",
    path: "/",
    scope: "public",
    summary: "What this is, and where to go: HTML for browsers, JSON for others",
    response: z.object({
      name: z.string(),
      version: z.string(),
      about: z.string(),
      links: z.record(z.string(), z.string()),
    }),
    streams: { "text/html": z.string() },
    headers: { vary: "Which headers of the request it depends on" },
  },
  async ({ header, event }, { site }: DocsApi) => {
    const headers = { vary: "accept" };
    if (!prefersHtml(header("accept"))) return new ApiResponse(200, entranceOf(site, baseOf(event)), headers);
    const page = entrancePage(site, rootOf(event?.requestContext?.path));
    return new StreamedResponse({ contentType: HTML, chunks: onePiece(page), headers });
  },
);

/** From where the browser is, which may have left out the slash behind the stage that API Gateway puts before paths. */
const rootOf = (path = "/"): string => (path.endsWith("/") ? "./" : `./${path.split("/").at(-1)}/`);

/** As browsers do, who name it before anything; who takes whatever comes does not read it. */
const prefersHtml = (accept = ""): boolean => /text\/html/i.test(accept);

const openApi = defineStreamRoute(
  {
    method: "GET",
    path: "/openapi.json",
    scope: "public",
    summary: "This document, with the address under which it was asked for as its server",
    response: z.looseObject({ openapi: z.string() }),
    otherwise: NOT_MODIFIED,
    headers: CACHE_HEADERS,
  },
  async (request, dependencies: DocsApi) => {
    const servers = [{ url: baseOf(request.event) }];
    const text = JSON.stringify({ ...dependencies.site.document, servers });
    return unlessKnown(request, dependencies, "application/json", text);
  },
);

const operations = defineStreamRoute(
  {
    method: "GET",
    path: "/docs",
    scope: "public",
    summary: "The reference of the API, for people: every operation",
    response: z.never(),
    streams: { "text/html": z.string() },
    otherwise: NOT_MODIFIED,
    headers: CACHE_HEADERS,
  },
  async (request, dependencies: DocsApi) => unlessKnown(request, dependencies, HTML, operationsPage(dependencies.site)),
);

const reference = defineStreamRoute(
  {
    method: "GET",
    path: "/docs/{page}",
    scope: "public",
    summary: "The reference of one operation, by its `operationId`; and what the pages load",
    params: z.strictObject({ page: z.string() }),
    response: z.never(),
    streams: { "text/html": z.string(), "text/css": z.string(), "text/javascript": z.string() },
    otherwise: NOT_MODIFIED,
    headers: CACHE_HEADERS,
  },
  async (request, dependencies: DocsApi) => {
    const { page } = request.params;
    if (isFile(page)) return unlessKnown(request, dependencies, FILE_TYPES[page], dependencies.fileOf(page));
    const html = operationPage(dependencies.site, page);
    if (html === undefined) throw new ApiError(404, `The API has no operation ${page}`, { code: "NOT_FOUND" });
    return unlessKnown(request, dependencies, HTML, html);
  },
);

const isFile = (name: string): name is keyof typeof FILE_TYPES => Object.hasOwn(FILE_TYPES, name);

export const api = createApi("docs-api", [entrance, openApi, operations, reference], once(createDocsApi), {
  around: async (c, next) => {
    const bare = /([^/]+)\/+$/.exec(c.req.path)?.[1];
    // links are relative to the address without a slash at its end; a gateway may put a stage before it
    if (bare !== undefined) c.res = c.redirect(`../${bare}`, 308);
    else await next();
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
  },
  headers: Object.fromEntries(Object.keys(HEADERS).map((name) => [name, "What browsers may do with the answer"])),
});
export const handler = api.handler;
