/** Makes captures of the records of a WARC file that others wrote. */
import type { Hash } from "node:crypto";
import type { Capture } from "../../capture/capture.ts";
import { ChunkedBody } from "../../capture/chunked.ts";
import { labelledDigest } from "../../capture/digest.ts";
import { holdsHttp } from "../../capture/message-head.ts";
import { parseHttpHead, parseHttpMessage } from "../../capture/warc-reader.ts";
import { type HttpResponse, headerValue } from "../../crawl/http/exchange.ts";
import { parseMediaType, textKindOf } from "../../crawl/http/media-type.ts";
import { readPageContent } from "../../crawl/http/read-page.ts";
import { normalizeUrl, urlHash } from "../../crawl/urls/normalize-url.ts";
import { daysOf } from "../../platform/calendar.ts";
import { REQUEST_BYTES } from "../warc-file/other-methods.ts";
import type { WarcRecord } from "../warc-file/read-warc-file.ts";
import type { RecordHead } from "../warc-file/record-head.ts";
import { hashOf, isStated } from "./stated-digest.ts";

/** What can be wrong with a record that can be read. */
export type RecordFault =
  | "URL_UNUSABLE"
  | "DATE_INVALID"
  | "HTTP_INVALID"
  | "DIGEST_MISMATCH"
  | "BODY_CUT"
  | "METHOD_NOT_GET"
  | "TEXT_LEFT_OUT";

export interface Objection {
  code: RecordFault;
  message: string;
}

export interface RecordCapture {
  /** Null where the record is none of a page, or is left out. */
  capture: Capture | null;
  objections: Objection[];
}

/** Bytes of a block that are kept: a page as large as a crawl takes, with its headers. Larger ones have no text. */
const KEPT_BYTES = 10 * 1024 * 1024 + 64 * 1024;
const MAX_TEXT_BYTES = 10 * 1024 * 1024;
/** Characters: servers take no longer ones. */
const LONGEST_URL = 8192;
const DAY_MS = 86_400_000;
const CAPTURED_TYPES = new Set(["response", "revisit", "resource"]);

export const typeOf = ({ fields }: RecordHead): string => (fields.get("warc-type") ?? "").toLowerCase();

/** Bytes of the block that `captureOf` and `OtherMethods` read. */
export function keptBytes(head: RecordHead): number {
  if (CAPTURED_TYPES.has(typeOf(head))) return KEPT_BYTES;
  return typeOf(head) === "request" ? REQUEST_BYTES : 0;
}

/** What the bytes of a long block come to. */
interface LongDigests {
  /** Of the payload, as captures have it. */
  payload: string;
  payloadBytes: number;
  /** In the algorithms that the record states, where it does. */
  block: Buffer | undefined;
  /** Likewise, of the payload, and of it with its chunked framing. */
  stated: Buffer[];
  /** The chunked framing ends before its end. */
  cut: boolean;
}

/** Follows the bytes of a block that is longer than what is kept. */
export class LongBlock {
  readonly #fields: RecordHead["fields"];
  readonly #payload = hashOf("sha256:") as Hash;
  readonly #block: Hash | undefined;
  readonly #stated: Hash | undefined;
  readonly #framed: Hash | undefined;
  #chunked: ChunkedBody | undefined;
  #payloadBytes = 0;
  #begun = false;
  #digests: LongDigests | undefined;

  constructor({ fields }: RecordHead) {
    this.#fields = fields;
    this.#block = hashOf(fields.get("warc-block-digest"));
    this.#stated = hashOf(fields.get("warc-payload-digest"));
    this.#framed = hashOf(fields.get("warc-payload-digest"));
  }

  /** @param bytes the first time with all of an HTTP head */
  add(bytes: Buffer): void {
    this.#block?.update(bytes);
    let payload = bytes;
    if (!this.#begun && holdsHttp(this.#fields, bytes)) {
      const { isChunked, rest } = parseHttpHead(bytes);
      if (isChunked) this.#chunked = new ChunkedBody();
      payload = rest;
    }
    this.#begun = true;
    this.#framed?.update(payload);
    for (const part of this.#chunked?.add(payload) ?? [payload]) this.#take(part);
  }

  #take(part: Buffer): void {
    this.#payload.update(part);
    this.#stated?.update(part);
    this.#payloadBytes += part.length;
  }

  /** Once all of it has come. */
  digests(): LongDigests {
    if (this.#digests !== undefined) return this.#digests;
    const { rest, cut } = this.#chunked?.end() ?? { rest: Buffer.alloc(0), cut: false };
    this.#take(rest);
    this.#digests = {
      payload: `sha256:${this.#payload.digest("hex")}`,
      payloadBytes: this.#payloadBytes,
      block: this.#block?.digest(),
      stated: [this.#stated, this.#framed].flatMap((hash) => hash?.digest() ?? []),
      cut,
    };
    return this.#digests;
  }
}

export interface CaptureOptions {
  /** Of the object. */
  key: string;
  /** Where in it the WARC file begins that the record's place is one of. */
  base: number;
  /** Of a block that was not kept whole. */
  long: LongBlock | undefined;
  /** False where extracting the text has stopped the function before. */
  withText: boolean;
  /** Epoch ms. */
  now: number;
}

export async function captureOf(record: WarcRecord, options: CaptureOptions): Promise<RecordCapture> {
  const { head, block } = record;
  const { fields } = head;
  const type = typeOf(head);
  if (!CAPTURED_TYPES.has(type)) return NOTHING;
  const isHttp = holdsHttp(fields, block);
  const given = (fields.get("warc-target-uri") ?? "").replace(/^<(.*)>$/, "$1");
  // dns answers, and what archivers keep of themselves
  if (!isHttp && !/^https?:/i.test(given) && type !== "revisit") return NOTHING;
  if (!isHttp && type === "response") {
    const message = "it is no HTTP answer, neither by its Content-Type nor by its first bytes";
    return { capture: null, objections: [{ code: "HTTP_INVALID", message }] };
  }
  const url = usableUrl(given);
  if (typeof url === "object") return { capture: null, objections: [url] };
  const date = dateOf(fields.get("warc-date"), options.now);
  if (typeof date === "object") return { capture: null, objections: [date] };
  const message = isHttp ? parseHttpMessage(block) : resourceMessage(record);
  const status = type === "revisit" && message.startLine === "" ? 0 : statusOf(message.startLine);
  if (status === undefined) {
    const start = JSON.stringify(message.startLine.slice(0, 80));
    return { capture: null, objections: [{ code: "HTTP_INVALID", message: `it is no HTTP answer: ${start}` }] };
  }
  const long = options.long?.digests();
  const objections = digestObjections(record, long, message.body);
  const isCut = long?.cut ?? message.cut;
  if (isCut && !fields.has("warc-truncated")) {
    objections.push({
      code: "BODY_CUT",
      message: "its chunked body ends before its end: it is kept as far as it goes",
    });
  }
  const truncated = fields.has("warc-truncated") || isCut;
  const { essence: mimeType } = parseMediaType(headerValue(message.httpHeaders, "content-type"));
  const capture: Capture = {
    url,
    urlHash: urlHash(normalizeUrl(url)),
    finalUrl: url,
    redirects: [],
    depth: 0,
    status,
    headers: message.httpHeaders.map(([name, value]) => [name.toLowerCase(), value]),
    mimeType,
    charset: null,
    fetchedAt: date,
    fetchTimeMs: 0,
    payloadBytes: long?.payloadBytes ?? message.body.length,
    payloadDigest: long?.payload ?? labelledDigest(message.body),
    truncated,
    notModified: false,
    revisitOf: null,
    rendered: null,
    warc: {
      key: options.key,
      ...record.place,
      offset: options.base + record.place.offset,
      recordId: recordIdOf(fields.get("warc-record-id")),
    },
    extraction: null,
    error: null,
    ...stated(fields),
  };
  if (type === "revisit") return { capture: { ...capture, ...revisitOf(url, head, status) }, objections };
  if (status >= 400) {
    capture.error = { code: `HTTP_${status}`, message: `The server answered ${status}`, retryable: false };
  }
  if (status < 200 || status > 299) return { capture, objections };
  if (long !== undefined) {
    // films and archives have none in any case
    if (textKindOf(mimeType, message.body).kind === undefined) return { capture, objections };
    const reason = `it is longer than the ${KEPT_BYTES} bytes of which text is made: it is kept without its text`;
    return { capture, objections: [...objections, { code: "TEXT_LEFT_OUT", message: reason }] };
  }
  if (!options.withText) {
    const reason = "indexing stopped at this record again and again: it is kept without its text";
    return { capture, objections: [...objections, { code: "TEXT_LEFT_OUT", message: reason }] };
  }
  const { startLine, httpHeaders, body } = message;
  const cut = truncated ? ("length" as const) : null;
  const response: HttpResponse = { status, startLine, headers: httpHeaders, body, truncated: cut };
  const content = await readPageContent(response, url, MAX_TEXT_BYTES);
  const isFault = content.error !== null && !["UNSUPPORTED_TYPE", "EMPTY_BODY"].includes(content.error.code);
  const read = {
    mimeType: content.mimeType,
    charset: content.charset,
    extraction: content.extraction,
    error: isFault ? content.error : null,
    truncated: truncated || content.truncated,
  };
  return { capture: { ...capture, ...read }, objections };
}

const NOTHING: RecordCapture = { capture: null, objections: [] };

function usableUrl(given: string): string | Objection {
  const refused = (why: string): Objection => ({ code: "URL_UNUSABLE", message: `its URL ${why}` });
  if (given.length > LONGEST_URL) return refused(`is longer than ${LONGEST_URL} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the parser would leave them out without a word
  if (/[\u0000-\u001f\u007f]/.test(given)) return refused("holds control characters");
  if (!URL.canParse(given)) return refused("cannot be parsed");
  const url = new URL(given);
  if (url.protocol !== "http:" && url.protocol !== "https:") return refused(`is one of ${url.protocol} and no page`);
  if (url.username !== "" || url.password !== "") return refused("holds a user name or a password");
  url.hash = "";
  return url.href;
}

/** Of the web. */
const FIRST_YEAR = 1990;

/** Clocks of archivers may be wrong, but not by more than this. */
function dateOf(given: string | undefined, now: number): string | Objection {
  const text = /^\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z)?)?)?$/.exec(given ?? "")?.[0];
  const ms = Date.parse((text ?? "").replace(/(\.\d{3})\d+/, "$1"));
  const [year = 0, month = 1, day = 1] = (text ?? "").slice(0, 10).split("-").map(Number);
  const refused = (why: string): Objection => ({ code: "DATE_INVALID", message: `its date ${why}` });
  if (Number.isNaN(ms)) return refused("is none of ISO 8601 in UTC");
  if (year < FIRST_YEAR) return refused("lies before the web");
  if (day > daysOf(year, month)) return refused("is of a day that its month has not");
  if (ms > now + DAY_MS) return refused("lies in the future");
  return new Date(ms).toISOString();
}

function statusOf(startLine: string): number | undefined {
  const status = /^HTTP\/\d(?:\.\d)?[ \t]+(\d{3})(?![0-9])/i.exec(startLine)?.[1];
  return status === undefined || Number(status) < 100 ? undefined : Number(status);
}

function resourceMessage({ head, block }: WarcRecord): ReturnType<typeof parseHttpMessage> {
  if (typeOf(head) === "revisit") return { startLine: "", httpHeaders: [], body: Buffer.alloc(0), cut: false };
  const type = head.fields.get("content-type");
  const httpHeaders: [string, string][] = type === undefined ? [] : [["content-type", type]];
  return { startLine: "HTTP/1.1 200 OK", httpHeaders, body: block, cut: false };
}

const UUID_URN = /^<?urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})>?$/i;

/** As captures have it: the UUID, or else the URI. */
export function recordIdOf(given: string | undefined): string {
  return UUID_URN.exec(given ?? "")?.[1]?.toLowerCase() ?? (given?.replace(/^<(.*)>$/, "$1") || "none");
}

function revisitOf(url: string, { fields }: RecordHead, status: number): Partial<Capture> {
  const target = usableUrl((fields.get("warc-refers-to-target-uri") ?? "").replace(/^<(.*)>$/, "$1"));
  const date = dateOf(fields.get("warc-refers-to-date"), Number.POSITIVE_INFINITY);
  const of = fields.get("warc-refers-to");
  const refersTo = {
    recordId: of === undefined ? null : recordIdOf(of),
    urlHash: urlHash(normalizeUrl(typeof target === "string" ? target : url)),
    date: typeof date === "string" ? date : null,
  };
  const notModified = status === 304 || /server-not-modified/.test(fields.get("warc-profile") ?? "");
  return { refersTo, notModified, payloadDigest: null, payloadBytes: 0 };
}

function stated(fields: RecordHead["fields"]): Pick<Capture, "statedDigest"> {
  const digest = fields.get("warc-payload-digest");
  return digest === undefined ? {} : { statedDigest: digest };
}

/**
 * What a record says of its digests that is not so.
 * @param long of a block that was not kept whole
 * @param payload of the record, where it has been parsed
 */
export function digestObjections(
  { head, block: kept }: WarcRecord,
  long: LongDigests | undefined,
  payload: Buffer = payloadOf(head, kept),
): Objection[] {
  const whole = kept.length === head.blockLength;
  const wrong: string[] = [];
  const statedBlock = head.fields.get("warc-block-digest");
  const ofBlock = long?.block ?? (whole ? hashOf(statedBlock)?.update(kept).digest() : undefined);
  if (statedBlock !== undefined && ofBlock !== undefined && !isStated(ofBlock, statedBlock)) wrong.push("block");
  const statedPayload = head.fields.get("warc-payload-digest");
  if (statedPayload !== undefined && (whole || long !== undefined) && typeOf(head) !== "revisit") {
    // some archivers take it over the body with its chunked framing
    const framed = holdsHttp(head.fields, kept) ? [parseHttpHead(kept).rest] : [];
    const digests =
      long?.stated ?? [payload, ...framed].flatMap((bytes) => hashOf(statedPayload)?.update(bytes).digest() ?? []);
    if (digests.length > 0 && !digests.some((digest) => isStated(digest, statedPayload))) wrong.push("payload");
  }
  if (wrong.length === 0) return [];
  return [{ code: "DIGEST_MISMATCH", message: `its ${wrong.join(" and ")} digest is not the one that it states` }];
}

const payloadOf = ({ fields }: RecordHead, block: Buffer): Buffer =>
  holdsHttp(fields, block) ? parseHttpMessage(block).body : block;
