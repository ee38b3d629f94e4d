/** Requests that no client of good will sends, and how each is refused. */
import { gzipSync } from "node:zlib";

export interface HostileRequest {
  what: string;
  /** Of the answer; a connection that is closed without one is 0. */
  status: number;
  /** Sent as it stands. */
  bytes: Buffer;
}

/** A key of the runtime, and another one that is none. */
interface Keys {
  key: string;
  host: string;
}

const JOB = "01a21f4a-7c1e-7d37-b6c4-1f2a90c8e5d1";
const MB = 1024 * 1024;
const WEBSOCKET =
  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const DEEP = { url: "https://hostile.example/" };

export function hostileRequests({ key, host }: Keys): HostileRequest[] {
  const authorized = `Host: ${host}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`;
  const raw = (what: string, status: number, text: string | Buffer): HostileRequest => ({
    what,
    status,
    bytes: Buffer.isBuffer(text) ? text : Buffer.from(text),
  });
  const post = (
    what: string,
    status: number,
    body: string | Buffer,
    {
      path = "/api/v1/crawl/deep",
      headers = "Content-Type: application/json\r\n",
      length = Buffer.byteLength(body),
    } = {},
  ): HostileRequest =>
    raw(
      what,
      status,
      Buffer.concat([
        Buffer.from(`POST ${path} HTTP/1.1\r\n${authorized}${headers}Content-Length: ${length}\r\n\r\n`),
        Buffer.from(body),
      ]),
    );
  const json = (what: string, status: number, body: unknown, path?: string): HostileRequest =>
    post(what, status, JSON.stringify(body), path === undefined ? {} : { path });
  const get = (what: string, status: number, path: string, headers = ""): HostileRequest =>
    raw(what, status, `GET ${path} HTTP/1.1\r\n${authorized}${headers}\r\n`);
  const field = (what: string, text: string): HostileRequest =>
    post(what, 400, `{"url":"https://hostile.example/",${text}}`);
  const nested = (open: string, close: string, depth: number): string =>
    `{"url":"https://hostile.example/","tags":${open.repeat(depth)}${close.repeat(depth)}}`;
  const upload = (what: string, fields: object): HostileRequest =>
    json(what, 400, { filename: "a.warc.gz", bytes: 10, sha256: "0".repeat(64), ...fields }, "/api/admin/warcs");

  return [
    // bodies
    post("a body that ends in the middle", 400, "{"),
    post("a body of nothing", 400, ""),
    post("a body that is null", 400, "null"),
    post("a body that is a list", 400, "[]"),
    post("a body that is a number", 400, "1e999"),
    post("100,000 lists in one another", 400, nested("[", "]", 100_000)),
    post("50,000 objects in one another", 400, nested('{"a":', "}", 50_000).replace(":}", ":1}")),
    post(
      "a field twice, the second time with a private address",
      403,
      '{"url":"https://a.example/","url":"http://10.0.0.1/"}',
    ),
    field("__proto__", '"__proto__":{"isAdmin":true}'),
    field("__proto__ in another spelling", '"__\\u0070roto__":{"isAdmin":true}'),
    field("__proto__ of a setting", '"config":{"__proto__":{"rate_limit_rps":9}}'),
    field("a constructor", '"constructor":{"prototype":{"isAdmin":true}}'),
    field("NaN", '"max_pages":NaN'),
    field("a number beyond all", '"max_pages":1e999'),
    field("a number that no integer can hold", '"max_pages":9007199254740993'),
    field("a negative number without end", '"max_depth":-1e999'),
    field("a text with NUL", '"tags":["a\\u0000b"]'),
    field("half a character", '"tags":["a\\ud800b"]'),
    field("a megabyte of a name", `"tags":["${"a".repeat(MB)}"]`),
    field("60,000 values", `"tags":[${Array(60_000).fill('"a"').join(",")}]`),
    field("10,000 fields", Array.from({ length: 10_000 }, (_, nth) => `"f${nth}":1`).join(",")),
    field("line breaks in a header to send", '"config":{"headers":{"x-a":"1\\r\\nx-b: 2"}}'),
    field("line breaks in the name of a header", '"config":{"headers":{"x-a: 1\\r\\nx-b":"2"}}'),
    field("a pattern that would never end", '"include":["(a+)+\\\\1$"]'),
    post("text in another encoding", 400, Buffer.from('\ufeff{"url":"https://hostile.example/"}', "utf16le")),
    post("bytes that are no UTF-8", 400, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
    post("a form", 415, "url=https://hostile.example/", {
      headers: "Content-Type: application/x-www-form-urlencoded\r\n",
    }),
    post("a multipart form", 415, "--a--", { headers: "Content-Type: multipart/form-data; boundary=a\r\n" }),
    post("plain text, as forms of other sites may send it", 415, JSON.stringify(DEEP), {
      headers: "Content-Type: text/plain\r\n",
    }),
    post("no type at all", 415, JSON.stringify(DEEP), { headers: "" }),
    post("XML with an entity", 415, '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', {
      headers: "Content-Type: application/xml\r\n",
    }),
    post("a gzip bomb", 400, gzipSync(Buffer.alloc(50 * MB, 0x20)), {
      headers: "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
    }),
    post("more than six megabytes", 413, `{"url":"${"a".repeat(6 * MB)}"}`),

    post("a body of 93 gigabytes, as it is announced", 413, "{", { length: 99_999_999_999 }),

    // heads
    get("a key of 100 kB", 431, "/api/v1/jobs", `X-Other: ${"a".repeat(100_000)}\r\n`),
    get(
      "3,000 headers",
      431,
      "/api/v1/jobs",
      Array.from({ length: 3_000 }, (_, nth) => `x-${nth}: ${nth}\r\n`).join(""),
    ),
    raw("no Host", 400, `GET /api/v1/jobs HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n\r\n`),
    raw("two Hosts", 400, `GET /api/v1/jobs HTTP/1.1\r\n${authorized}Host: other.example\r\n\r\n`),
    raw(
      "another site's Host",
      403,
      `GET /api/v1/jobs HTTP/1.1\r\nHost: rebound.example\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    ),
    raw(
      "a length and chunks",
      400,
      `POST /api/v1/crawl HTTP/1.1\r\n${authorized}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ),
    raw(
      "two lengths",
      400,
      `POST /api/v1/crawl HTTP/1.1\r\n${authorized}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{}`,
    ),
    raw("a negative length", 400, `POST /api/v1/crawl HTTP/1.1\r\n${authorized}Content-Length: -1\r\n\r\n`),
    raw(
      "a length in hexadecimal",
      400,
      `POST /api/v1/crawl HTTP/1.1\r\n${authorized}Content-Length: 0x5\r\n\r\n{}{}{}`,
    ),
    raw(
      "an unknown transfer coding",
      400,
      `POST /api/v1/crawl HTTP/1.1\r\n${authorized}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    ),
    raw(
      "chunks before another coding",
      400,
      `POST /api/v1/crawl HTTP/1.1\r\n${authorized}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    ),
    raw(
      "a chunk of more bytes than there are",
      400,
      `POST /api/v1/crawl HTTP/1.1\r\n${authorized}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n`,
    ),
    raw(
      "a header that goes on in the next line",
      400,
      `GET /api/v1/jobs HTTP/1.1\r\n${authorized}X-A: 1\r\n 2\r\n\r\n`,
    ),
    raw("a space before the colon", 400, `GET /api/v1/jobs HTTP/1.1\r\n${authorized}X-A : 1\r\n\r\n`),
    raw("a carriage return within a header", 400, `GET /api/v1/jobs HTTP/1.1\r\n${authorized}X-A: 1\rX-B: 2\r\n\r\n`),
    raw("NUL within a header", 400, `GET /api/v1/jobs HTTP/1.1\r\n${authorized}X-A: 1\x002\r\n\r\n`),
    raw("an unknown version", 400, `GET /api/v1/jobs HTTP/9.9\r\n${authorized}\r\n`),
    raw("an unknown method", 400, `STEAL /api/v1/jobs HTTP/1.1\r\n${authorized}\r\n`),
    raw("TRACE", 405, `TRACE /api/v1/jobs HTTP/1.1\r\n${authorized}\r\n`),
    raw("CONNECT", 0, `CONNECT 169.254.169.254:80 HTTP/1.1\r\n${authorized}\r\n`),
    raw(
      "TLS where there is none",
      400,
      Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x00, 0x0d, 0x0a]),
    ),
    raw(
      "two keys in one header",
      401,
      `GET /api/v1/jobs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nX-API-Key: ${key}, ${key}\r\n\r\n`,
    ),
    raw(
      "a key in another scheme",
      401,
      `GET /api/v1/jobs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAuthorization: Basic ${key}\r\n\r\n`,
    ),
    raw(
      "a key in the query",
      401,
      `GET /api/v1/jobs?api_key=${key} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    ),

    // targets
    get("a path that climbs", 404, "/api/v1/../../etc/passwd"),
    get("a path that climbs, encoded", 404, "/api/v1/%2e%2e/%2e%2e/etc/passwd"),
    get("a file of the console that is none of it", 404, "/console/..%2f..%2f..%2f..%2fetc%2fpasswd"),
    get("another machine's address as the target", 404, "http://169.254.169.254/latest/meta-data/"),
    get("slashes that are encoded", 404, `/api/v1/crawl/${JOB}%2fcancel`),
    get("NUL in a path", 404, "/api/v1/documents/a%00b"),
    get("a path that is not decodable", 400, "/api/v1/documents/%zz"),
    get("an id that is SQL", 404, "/api/v1/documents/1'%20or%20'1'='1"),
    get("a path of 100 kB", 431, `/api/v1/documents/${"a".repeat(100_000)}`),

    // queries
    get("10,000 parameters", 431, `/api/v1/jobs?${Array.from({ length: 10_000 }, (_, nth) => `p${nth}=1`).join("&")}`),
    get("500 parameters", 400, `/api/v1/jobs?${Array.from({ length: 500 }, (_, nth) => `p${nth}=1`).join("&")}`),
    get("__proto__ as a parameter", 400, "/api/v1/jobs?__proto__=1"),
    get("a parameter twice", 400, "/api/v1/jobs?limit=1&limit=2"),
    get("a limit beyond all", 400, "/api/v1/jobs?limit=1e309"),
    get("a limit below zero", 400, "/api/v1/jobs?limit=-1"),
    get("a limit that is half a number", 400, "/api/v1/jobs?limit=1x"),
    get("a limit in other digits", 400, "/api/v1/jobs?limit=%D9%A1"),
    get("a cursor that is none", 400, "/api/v1/jobs?cursor=AAAA"),
    get("a cursor that is SQL", 400, "/api/v1/jobs?cursor=%27%20or%201%3D1--"),
    get(
      "a cursor of another list",
      400,
      `/api/v1/documents?cursor=${Buffer.from('["2026-01-01"]').toString("base64url")}`,
    ),
    get("a cursor of results below zero", 400, `/jobs/${JOB}/results?cursor=-1`),
    get("a cursor of results that no integer holds", 400, `/jobs/${JOB}/results?cursor=99999999999999999999`),
    get("a time that is none", 400, "/api/v1/documents?date_from=yesterday"),

    // keys of requests, streams, ranges, sockets
    post("an Idempotency-Key of 256 characters", 400, JSON.stringify(DEEP), {
      headers: `Content-Type: application/json\r\nIdempotency-Key: ${"a".repeat(256)}\r\n`,
    }),
    post("an Idempotency-Key with spaces", 400, JSON.stringify(DEEP), {
      headers: "Content-Type: application/json\r\nIdempotency-Key: a b\r\n",
    }),
    post("two Idempotency-Keys", 400, JSON.stringify(DEEP), {
      headers: "Content-Type: application/json\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n",
    }),
    get(
      "a stream of a job that there is none of",
      404,
      `/api/v1/crawl/${JOB}/stream`,
      "Last-Event-ID: 99999999999999999999\r\n",
    ),
    get("a Last-Event-ID that is no number", 404, `/api/v1/crawl/${JOB}/stream`, "Last-Event-ID: ../../etc\r\n"),
    get(
      "a thousand ranges of nothing",
      404,
      "/api/snapshots/raw/999999999",
      `Range: bytes=${Array(1_000).fill("0-0").join(",")}\r\n`,
    ),
    get(
      "a WebSocket of a job that there is none of, with a handshake that is none",
      404,
      `/api/v1/ws/crawl/${JOB}`,
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 7\r\nSec-WebSocket-Key: a\r\n",
    ),
    raw("a WebSocket of nobody", 401, `GET /api/v1/ws/crawl/${JOB} HTTP/1.1\r\nHost: ${host}\r\n${WEBSOCKET}\r\n`),

    // files of others
    upload("a WARC file with a path", { filename: "../../etc/passwd" }),
    upload("a WARC file with NUL in its name", { filename: "a\u0000.warc.gz" }),
    upload("a WARC file of no bytes", { bytes: 0 }),
    upload("a WARC file of more bytes than there are", { bytes: 1e18 }),
    upload("a WARC file with a hash that is none", { sha256: "g".repeat(64) }),
    json("a WARC file that is none of the uploads", 400, { key: "../credentials.json" }, "/api/admin/warcs"),
    json(
      "a document that is larger than documents may be",
      400,
      { bytes: 26 * MB, sha256: "0".repeat(64) },
      "/api/v1/documents/uploads",
    ),
    json(
      "a document whose address is a script",
      400,
      { url: "javascript:alert(1)", content: "a" },
      "/api/v1/documents",
    ),
  ];
}
