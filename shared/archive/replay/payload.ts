/** What a server sent for a capture, read back from the archive by one ranged request. */
import type { WarcPointer } from "../../capture/capture.ts";
import type { RecordPointer, WarcRecordContents } from "../../capture/warc-reader.ts";
import { decodeContent } from "../../crawl/http/content-coding.ts";
import { headerValue } from "../../crawl/http/exchange.ts";
import { parseMediaType } from "../../crawl/http/media-type.ts";
import { readResponseRecord } from "../../crawl/results/archived-content.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { PermanentError } from "../../platform/errors.ts";

export interface Archive {
  sql: Queryable;
  objects: Pick<ObjectStore, "get">;
}

export interface Payload {
  status: number;
  /** As sent; latin1. */
  headers: readonly [string, string][];
  /** Content coding undone. */
  body: Buffer;
  /** Whether the server had more to send, or its coding did not come to its end. */
  cut: boolean;
  /** Lower case, without parameters; null where the server named none. */
  mimeType: string | null;
  /** As captured; null where the body is no text, or nobody looked. */
  charset: string | null;
}

interface ChainLink {
  urlHash: string;
  finalUrlHash: string;
  charset: string | null;
  warc: (RecordPointer & Pick<WarcPointer, "key">) | null;
}

/** Revisits refer to originals; more steps than this are a circle. */
const MAX_HOPS = 8;
/** Of a body whose coding is undone. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;

/**
 * A revisit is followed to the response that it repeats.
 * @returns undefined where the archive holds no answer for such a capture
 * @throws PermanentError ORIGINAL_MISSING, WARC_MISSING, WARC_INVALID, DECODE_FAILED
 */
export async function readPayload({ sql, objects }: Archive, captureId: number): Promise<Payload | undefined> {
  const chain = await sql<ChainLink[]>`
    with recursive chain (id, hops) as (
      select ${captureId}::bigint, 0
      union all
      select coalesce(c.revisit_of, c.reused_from), chain.hops + 1
      from chain join captures c on c.id = chain.id
      where coalesce(c.revisit_of, c.reused_from) <> c.id and chain.hops < ${MAX_HOPS})
    select encode(c.url_hash, 'hex') as "urlHash", encode(c.final_url_hash, 'hex') as "finalUrlHash", c.charset,
      case when c.warc_key is not null
        then json_strip_nulls(json_build_object('key', c.warc_key, 'offset', c.warc_offset, 'length', c.warc_length,
          'coding', c.warc_coding, 'inner', c.warc_inner)) end as warc
    from chain join captures c on c.id = chain.id order by chain.hops`;
  const record = await readResponseRecord({ sql, objects }, chain);
  if (record === undefined) return undefined;
  return await payloadOf(record, chain.findLast(({ charset }) => charset !== null)?.charset ?? null);
}

async function payloadOf(record: WarcRecordContents, charset: string | null): Promise<Payload> {
  const { httpHeaders } = record;
  const isHttp = record.startLine !== "";
  const coding = headerValue(httpHeaders, "content-encoding");
  const decoded = await decodeContent(record.body, coding, MAX_BODY_BYTES, record.cut);
  if ("failed" in decoded) throw new PermanentError(decoded.failed, { code: "DECODE_FAILED" });
  // a resource record holds the file itself, and says its type where an answer would
  const contentType = isHttp ? headerValue(httpHeaders, "content-type") : record.warcHeaders.get("content-type");
  return {
    status: isHttp ? answerable(Number(/^\S+\s+(\d{3})/.exec(record.startLine)?.[1] ?? 200)) : 200,
    headers: isHttp || contentType === undefined ? httpHeaders : [["Content-Type", contentType]],
    body: decoded.bytes,
    cut: record.cut || decoded.truncated,
    mimeType: parseMediaType(contentType).essence,
    charset,
  };
}

/** Whoever gets a status that is no final one takes it for one of 5xx (RFC 9110, section 15). */
const answerable = (status: number): number => (status >= 200 && status <= 599 ? status : 502);

/**
 * The Content-Type of an answer with the body: that of the server, with the charset as captured, which names what the
 * bytes are whatever the server said.
 */
export function contentTypeOf({
  headers,
  mimeType,
  charset,
}: Pick<Payload, "headers" | "mimeType" | "charset">): string {
  // no browser knows UTF-32: as with any type, it goes by the bytes then
  if (charset !== null && !charset.startsWith("UTF-32")) {
    return `${mimeType ?? "text/html"}; charset=${charset.toLowerCase()}`;
  }
  // what else a server wrote there may be nothing that HTTP can carry
  const sent = parseMediaType(headerValue(headers, "content-type"));
  const label = TOKEN.test(sent.charset ?? "") ? `; charset=${sent.charset}` : "";
  return sent.essence === null ? "application/octet-stream" : `${sent.essence}${label}`;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,60}$/;
