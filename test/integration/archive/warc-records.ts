/** Records of WARC files that somebody else wrote. */

let serial = 0;

interface RecordOptions {
  type?: string;
  url?: string;
  date?: string;
  id?: string;
  contentType?: string;
  fields?: Record<string, string>;
}

/** A plain record, as an archiver writes it. */
export function record(block: string | Buffer, options: RecordOptions = {}): Buffer {
  const { type = "response", url = "http://example.org/", date = "2026-01-02T03:04:05Z", fields = {} } = options;
  const { id = `urn:test:${++serial}`, contentType = "application/http; msgtype=response" } = options;
  const all = {
    "WARC-Type": type,
    "WARC-Target-URI": url,
    "WARC-Date": date,
    "WARC-Record-ID": `<${id}>`,
    "Content-Type": contentType,
    "Content-Length": String(Buffer.byteLength(block)),
    ...fields,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`WARC/1.0\r\n${head.join("")}\r\n`), Buffer.from(block), Buffer.from("\r\n\r\n")]);
}

/** An HTTP answer. */
export const http = (body: string | Buffer, headers = "Content-Type: text/html\r\n", status = "200 OK"): Buffer =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${headers}\r\n`), Buffer.from(body)]);
