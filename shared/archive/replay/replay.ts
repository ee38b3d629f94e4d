/**
 * Replays the archive: a URL with a time is answered with the capture that is nearest to it, rewritten so that all that
 * it asks for is asked of the archive too.
 */
import { decodeKnown, decodeText } from "../../capture/charset.ts";
import { headerValue } from "../../crawl/http/exchange.ts";
import { parseMediaType, readableKindOf } from "../../crawl/http/media-type.ts";
import { isMissingFromArchive } from "../../crawl/results/archived-content.ts";
import { normalizeUrl } from "../../crawl/urls/normalize-url.ts";
import { sha256 } from "../../platform/ids.ts";
import type { Memento } from "../cdx/mementos.ts";
import { withheldUrl } from "../exclusions/is-shown.ts";
import { byteRange } from "./byte-range.ts";
import { archivedAmong, type NearestCapture, nearestCaptures } from "./nearest.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { type Archive, contentTypeOf, type Payload, readPayload } from "./payload.ts";
import {
  contentHeaders,
  missingPage,
  originalHeaders,
  type ReplayAnswer,
  type ReplayRequest,
  withheldPage,
  wrapperPage,
} from "./replay-answers.ts";
import { linksAround, timeGate, timeMap, wantedTime } from "./replay-memento.ts";
import {
  archivedReference,
  type Modifier,
  type ReplayContext,
  type ReplayTarget,
  readReplayPath,
  replayPath,
} from "./rewrite/replay-url.ts";
import { rewriteCss } from "./rewrite/rewrite-css.ts";
import { rewriteMarkup } from "./rewrite/rewrite-html.ts";
import { rewriteScript, scriptsReady } from "./rewrite/rewrite-script.ts";
import { styleSheets } from "./style-sheet.ts";
import { timeOf, timestampOf } from "./timestamp.ts";

const SCRIPT_PATH = `/_replay/${sha256(PAGE_SCRIPT).toString("hex").slice(0, 16)}.js`;
/** Seconds: a better capture may come. */
const FRESH_S = 300;
const A_YEAR_S = 31_536_000;
/** Captures that are tried, where the nearest ones cannot be read or only lead to themselves. */
const MOST_TRIED = 6;

export async function replay(archive: Archive, request: ReplayRequest): Promise<ReplayAnswer> {
  const answer = await answerTo(archive, request);
  const headers = { ...answer.headers, vary: "origin, sec-fetch-dest, accept-datetime" };
  // whatever is replayed is of no origin, which asks as `null`
  if (request.header("origin") === "null") {
    Object.assign(headers, { "access-control-allow-origin": "null", "access-control-allow-credentials": "true" });
  }
  return { ...answer, headers };
}

async function answerTo(archive: Archive, request: ReplayRequest): Promise<ReplayAnswer> {
  const { method, path } = request;
  if (path === SCRIPT_PATH) return ownScript();
  if (method === "OPTIONS") return preflight(request);
  const target = readReplayPath(path);
  if (target === undefined) {
    const map = await timeMap(archive, request);
    if (map !== undefined) return map;
    return missingPage(
      request.origin,
      undefined,
      "A URL of replay is /TIME/URL, as in /20260102030405/https://example.org/",
    );
  }
  if (method !== "GET" && method !== "HEAD") {
    return missingPage(
      request.origin,
      target.url,
      "Answers to forms and other requests that send something are not archived",
    );
  }
  return await answerWith(archive, request, target);
}

const ownScript = (): ReplayAnswer => ({
  status: 200,
  headers: {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": `public, max-age=${A_YEAR_S}, immutable`,
    "x-content-type-options": "nosniff",
  },
  body: PAGE_SCRIPT,
});

/** Archived scripts may send headers of their own with what they ask of the archive. */
function preflight({ header }: ReplayRequest): ReplayAnswer {
  return {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": header("access-control-request-headers") ?? "*",
      "access-control-max-age": "600",
    },
    body: "",
  };
}

const redirect = (status: number, location: string): ReplayAnswer => ({
  status,
  headers: { location, "cache-control": "no-store" },
  body: "",
});

async function answerWith(archive: Archive, request: ReplayRequest, target: ReplayTarget): Promise<ReplayAnswer> {
  const { url, modifier } = target;
  const wanted = target.timestamp === undefined ? wantedTime(request) : undefined;
  if (wanted === null) return badDatetime(request.origin, url);
  const at = timeOf(target.timestamp ?? "") ?? wanted ?? new Date();
  const withheld = await withheldUrl(archive.sql, url);
  if (withheld === "excluded") return withheldPage(request.origin, url, withheld);
  if (target.timestamp === undefined) {
    const gate = await timeGate(archive, request.origin, url, wanted ?? null);
    if (gate !== undefined) {
      const found = redirect(302, replayPath(timestampOf(gate.memento.time), modifier, gate.memento.url));
      return { ...found, headers: { ...found.headers, link: gate.link } };
    }
  }
  const found = await nearestCaptures(archive.sql, url, at, { limit: MOST_TRIED });
  let why = "No capture of this URL is in the archive";
  for (const capture of found) {
    const timestamp = timestampOf(capture.capturedAt);
    if (!capture.direct) return redirect(302, replayPath(timestamp, modifier, capture.finalUrl));
    if (target.timestamp === undefined) return redirect(302, replayPath(timestamp, modifier, url));
    const payload = await readPayload(archive, capture.id).catch((error: unknown) => {
      if (!isMissingFromArchive(error)) throw error;
      why = `The archive does not hold what the server sent: ${error.message}`;
      return undefined;
    });
    // what it was compared with, somebody else had
    if (payload === undefined || payload.status === 304) continue;
    const location = locationOf(payload);
    if (location !== undefined) {
      if (leadsTo(location, url, url)) {
        why = "All that was captured of this URL is that it redirects to itself";
        continue;
      }
      if (await leadsRound(archive, capture, location)) {
        why = "All that was captured of this URL is that it redirects in a circle";
        continue;
      }
      const reference = archivedReference({ timestamp, url }, location, modifier);
      if (reference !== undefined) {
        const found = redirect(payload.status, reference);
        const link = await linksAround(archive, request.origin, url, mementoOf(capture));
        return {
          ...found,
          headers: { ...found.headers, link, "memento-datetime": capture.capturedAt.toUTCString() },
        };
      }
    }
    return await content(archive, request, target, capture, payload);
  }
  if (found.length === 0 && withheld !== undefined) return withheldPage(request.origin, url, withheld);
  const other = found.length === 0 ? await otherScheme(archive, target, at) : undefined;
  return other ?? missingPage(request.origin, url, why);
}

const locationOf = ({ status, headers }: Payload): string | undefined =>
  status >= 300 && status < 400 ? headerValue(headers, "location") : undefined;

function leadsTo(location: string, base: string, url: string): boolean {
  const next = URL.parse(location, base);
  return next !== null && keyOf(next.href) === keyOf(url);
}

/** Redirects one after the other, as many as browsers follow. */
const MOST_REDIRECTS = 20;

/** Whether what the archive has of a redirect's target, of its target and so on leads back, and nowhere else. */
async function leadsRound(
  archive: Archive,
  { finalUrl, capturedAt }: NearestCapture,
  location: string,
): Promise<boolean> {
  const passed = new Set([keyOf(finalUrl)]);
  let next = URL.parse(location, finalUrl);
  for (let at = capturedAt; next !== null && passed.size <= MOST_REDIRECTS; ) {
    if (passed.has(keyOf(next.href))) return true;
    passed.add(keyOf(next.href));
    const captures = await nearestCaptures(archive.sql, next.href, at, { limit: MOST_TRIED });
    const [capture] = captures;
    if (capture === undefined || captures.some(({ direct, status }) => !direct || status < 300 || status > 399)) {
      return false;
    }
    const further = await redirectOf(archive, capture);
    next = further === undefined ? null : URL.parse(further, capture.finalUrl);
    at = capture.capturedAt;
  }
  return false;
}

/** Where a capture leads, as far as the archive holds what was sent. */
async function redirectOf(archive: Archive, { id }: NearestCapture): Promise<string | undefined> {
  const payload = await readPayload(archive, id).catch((error: unknown) => {
    if (!isMissingFromArchive(error)) throw error;
    return undefined;
  });
  return payload && locationOf(payload);
}

const mementoOf = ({ id, finalUrl, capturedAt }: NearestCapture): Memento => ({ id, url: finalUrl, time: capturedAt });

const badDatetime = (origin: string, url: string): ReplayAnswer => ({
  ...missingPage(origin, url, "Accept-Datetime is no date of RFC 1123, as in Thu, 01 Jan 2026 00:00:00 GMT"),
  status: 400,
});

const keyOf = (url: string): string => normalizeUrl(url);

/** A page that is archived under the other one of http and https; where that only led here, there is none. */
async function otherScheme(
  archive: Archive,
  { url, modifier }: ReplayTarget,
  at: Date,
): Promise<ReplayAnswer | undefined> {
  const other = url.startsWith("https:") ? url.replace("https:", "http:") : url.replace("http:", "https:");
  for (const capture of await nearestCaptures(archive.sql, other, at, { limit: MOST_TRIED })) {
    const location = await redirectOf(archive, capture);
    if (location !== undefined && leadsTo(location, capture.finalUrl, url)) continue;
    return redirect(302, replayPath(timestampOf(capture.capturedAt), modifier, capture.finalUrl));
  }
  return undefined;
}

async function content(
  archive: Archive,
  request: ReplayRequest,
  target: ReplayTarget,
  capture: NearestCapture,
  payload: Payload,
): Promise<ReplayAnswer> {
  const { origin, header } = request;
  const timestamp = timestampOf(capture.capturedAt);
  const { modifier, url } = target;
  const context = { timestamp: target.timestamp ?? timestamp, url };
  const kind = kindOf(payload, modifier, header("sec-fetch-dest"));
  if (DOCUMENTS.has(kind) && needsWrapper(request, modifier))
    return wrapperPage(origin, context, capture.capturedAt, wholeStatus(payload));
  const link = await linksAround(archive, origin, url, mementoOf(capture));
  const headers = {
    ...originalHeaders(payload.headers, (reference) => archivedReference(context, reference, "mp_")),
    ...contentHeaders(origin, capture.capturedAt, link, header("sec-fetch-dest") !== "document"),
    "cache-control": `public, max-age=${target.timestamp === timestamp ? FRESH_S * 12 : FRESH_S}`,
    ...(payload.cut ? { "x-archive-truncated": "true" } : {}),
  };
  if (modifier !== "id_") {
    const rewritten = await rewrite(archive, request, context, kind, payload);
    if (rewritten !== undefined) {
      return {
        status: wholeStatus(payload),
        headers: { ...headers, "content-type": rewritten.type },
        body: rewritten.text,
      };
    }
  }
  return asSent(request, payload, { ...headers, "content-type": typeOf(payload, kind) });
}

/** Byte for byte, or to GET a range of it: never to `If-Range`, since no answer has a validator that it could name. */
function asSent({ method, header }: ReplayRequest, payload: Payload, given: Record<string, string>): ReplayAnswer {
  const { body } = payload;
  const part = payload.status === 206 ? partOf(payload) : undefined;
  const status = part === undefined ? wholeStatus(payload) : payload.status;
  const headers = { ...given, ...(part === undefined ? {} : { "content-range": part }) };
  const isRanged = status === 200 && method === "GET" && header("if-range") === undefined;
  const range = isRanged ? byteRange(header("range"), body.length) : undefined;
  if (range === "beyond") {
    return { status: 416, headers: { ...headers, "content-range": `bytes */${body.length}` }, body: "" };
  }
  const ranged = { ...headers, ...(status === 200 ? { "accept-ranges": "bytes" } : {}) };
  if (range === undefined) return { status, headers: ranged, body };
  const { first, last } = range;
  return {
    status: 206,
    headers: { ...ranged, "content-range": `bytes ${first}-${last}/${body.length}` },
    body: body.subarray(first, last + 1),
  };
}

/** Of an answer that has all there is. */
const wholeStatus = ({ status }: Payload): number => (status === 206 ? 200 : status);

/** Where the body of a 206 lies in what the server had; undefined where it is all of it, or nobody knows. */
function partOf({ headers, body }: Payload): string | undefined {
  const [, first = "", last = "", total = ""] =
    /^\s*bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)\s*$/i.exec(headerValue(headers, "content-range") ?? "") ?? [];
  const length = Number(last) + 1 - Number(first);
  if (total === "" || length !== body.length || length === Number(total)) return undefined;
  return `bytes ${first}-${last}/${total}`;
}

type Kind = "html" | "xhtml" | "xml" | "css" | "script" | "other";

/** What a browser shows as a document, in which scripts run. */
const DOCUMENTS: ReadonlySet<Kind> = new Set(["html", "xhtml", "xml"]);

const SCRIPT_TYPE = /^(text|application)\/(x-)?(java|ecma)script$/;
/** What a browser runs as no script, whatever asks for it. */
const NO_SCRIPT = /^(image|audio|video)\/|^text\/csv$/;

function kindOf({ mimeType, body, status }: Payload, modifier: Modifier, destination: string | undefined): Kind {
  const wanted = modifier === "js_" || destination === "script" || /work(er|let)$/.test(destination ?? "");
  if (wanted && !NO_SCRIPT.test(mimeType ?? "") && !/html/.test(mimeType ?? "") && !/json$/.test(mimeType ?? ""))
    return "script";
  if ((modifier === "cs_" || destination === "style") && (mimeType === null || mimeType === "text/css")) return "css";
  if (mimeType === null) return status !== 204 && readableKindOf(null, body) === "html" ? "html" : "other";
  if (mimeType === "text/html") return "html";
  if (mimeType === "application/xhtml+xml") return "xhtml";
  if (mimeType === "text/css") return "css";
  if (SCRIPT_TYPE.test(mimeType)) return "script";
  return /[/+]xml$|\/xsl$/.test(mimeType) ? "xml" : "other";
}

const TYPES: Partial<Record<Kind, string>> = { html: "text/html", css: "text/css", script: "text/javascript" };

/** Of what is given as it was sent: a script that was sent as something else would not run, since nobody may guess. */
function typeOf(payload: Payload, kind: Kind): string {
  if (kind === "script" && !SCRIPT_TYPE.test(payload.mimeType ?? "")) {
    return contentTypeOf({ ...payload, mimeType: "text/javascript", headers: [["Content-Type", "text/javascript"]] });
  }
  if (payload.mimeType === null && TYPES[kind] !== undefined) {
    return contentTypeOf({ ...payload, mimeType: TYPES[kind], headers: [["Content-Type", TYPES[kind]]] });
  }
  return contentTypeOf(payload);
}

/** @returns undefined where nothing of it is rewritten */
async function rewrite(
  archive: Archive,
  { header, origin }: ReplayRequest,
  context: ReplayContext,
  kind: Kind,
  payload: Payload,
): Promise<{ text: string; type: string } | undefined> {
  if (kind === "other") return undefined;
  const { text, charset } = textOf(payload, kind);
  const typed = (rewritten: string) => ({
    text: rewritten,
    type: `${TYPES[kind] ?? payload.mimeType ?? "text/html"}; charset=utf-8`,
  });
  if (kind === "css") {
    return typed(
      rewriteCss(text, (reference, what) => archivedReference(context, reference, what === "import" ? "cs_" : "im_")),
    );
  }
  await scriptsReady;
  if (kind === "script") return typed(rewriteScript(text, context));
  // what a script reads, or a page shows as a picture, is no page that runs
  const runs = !/^(empty|image)$/.test(header("sec-fetch-dest") ?? "");
  const headIn = (language: Kind | "xslt") =>
    runs ? headOf(origin, context, language, header("x-archive-token")) : "";
  const sheets =
    kind === "html"
      ? undefined
      : await styleSheets(archive, context, text, {
          head: headIn("xslt"),
          textOf: (sheet) => textOf(sheet, "xml").text,
        });
  const markup = rewriteMarkup(text, { ...context, kind, head: headIn(kind), charset, ...(sheets && { sheets }) });
  const archived = await archivedAmong(archive.sql, [...markup.links].slice(0, MOST_LINKS));
  return typed(markup.text((url) => archived === undefined || archived.has(url)));
}

/** Links of a page that are looked up; the others are taken for archived. */
const MOST_LINKS = 2_000;

function textOf(payload: Payload, kind: Kind): { text: string; charset: string } {
  const { body, charset, cut } = payload;
  if (charset !== null) return { text: decodeKnown(body, charset, cut), charset };
  const label = parseMediaType(headerValue(payload.headers, "content-type")).charset;
  return decodeText(body, label, kind === "html" ? "html" : kind === "xhtml" || kind === "xml" ? "xml" : "plain");
}

/** @param token what the port of one machine lets the scripts of replayed pages ask with */
function headOf(origin: string, { timestamp, url }: ReplayContext, kind: Kind | "xslt", token = ""): string {
  const given = { src: `${origin}${SCRIPT_PATH}`, "data-time": timestamp, "data-url": url, "data-token": token };
  const attributes = Object.entries(given).map(([name, value]) => ` ${name}="${attribute(value)}"`);
  const script = `<script${kind === "xml" ? ` xmlns="${XHTML}"` : ""}${attributes.join("")}></script>`;
  // in a style sheet, braces stand around what is computed
  return kind === "xslt" ? script.replace(/[{}]/g, "$&$&") : script;
}

const XHTML = "http://www.w3.org/1999/xhtml";

const attribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/**
 * Whether the page is to be shown inside of one of ours: a page can always send its own window elsewhere, and a frame
 * only where the page around it lets it.
 */
function needsWrapper({ header }: ReplayRequest, modifier: Modifier): boolean {
  const destination = header("sec-fetch-dest");
  if (destination === "document") return modifier !== "id_";
  return destination === "iframe" && modifier === "";
}
