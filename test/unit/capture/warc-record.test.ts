import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WARCParser } from "warcio";
import { headLength, parseHead } from "../../../shared/archive/warc-file/record-head.ts";
import { labelledDigest } from "../../../shared/capture/digest.ts";
import { parseHttpMessage, parseWarcRecord } from "../../../shared/capture/warc-reader.ts";
import { newRecordId, requestRecord, responseRecord, revisitRecord } from "../../../shared/capture/warc-record.ts";
import { createWarcSegment, warcSegmentKey } from "../../../shared/capture/warc-segment.ts";

const url = "http://example.org/a?b=1&c=%C3%A9";
const date = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const headers: [string, string][] = [
  ["Content-Type", "text/html"],
  ["Set-Cookie", "a=1"],
  ["X-Odd", "caf\xe9"],
  ["set-cookie", "b=2"],
  ["Transfer-Encoding", "chunked"],
];
const response = (body: Uint8Array) => ({ startLine: "HTTP/1.1 200 OK", headers, body });

async function parsed(file: Uint8Array) {
  const records = [];
  for await (const record of new WARCParser([file], { keepHeadersCase: true })) {
    const body = await record.readFully(false);
    records.push({ record, body, type: record.warcType, header: (name: string) => record.warcHeader(name) });
  }
  return records;
}

describe("a WARC segment", () => {
  it("is read by warcio without complaint, record by record", async () => {
    const segment = createWarcSegment(
      "warcs/x/task-1-00000.warc.gz",
      { software: "strandline", note: "two\r\nlines" },
      date,
    );
    const body = Buffer.from("<p>body\r\n\r\nWARC/1.1\r\n");
    const [requestId, responseId] = [newRecordId(), newRecordId()];
    const request = {
      startLine: "GET /a HTTP/1.1",
      headers: [["host", "example.org"]] as [string, string][],
      body: Buffer.alloc(0),
    };
    segment.append([
      {
        recordId: requestId,
        member: await requestRecord(request, { url, date, recordId: requestId, concurrentTo: responseId }),
      },
      {
        recordId: responseId,
        member: await responseRecord(response(body), labelledDigest(body), {
          url,
          date,
          recordId: responseId,
          truncated: "length",
        }),
      },
    ]);
    const [info, asked, answered, ...rest] = await parsed(segment.contents());
    expect(rest).toEqual([]);
    expect(info?.type).toBe("warcinfo");
    expect(info?.header("WARC-Filename")).toBe("task-1-00000.warc.gz");
    expect(Buffer.from(info?.body ?? []).toString()).toBe("software: strandline\r\nnote: two lines\r\n");
    expect(asked?.header("WARC-Concurrent-To")).toBe(`<urn:uuid:${responseId}>`);
    expect(asked?.record.httpHeaders?.statusline).toBe("GET /a HTTP/1.1");
    expect(answered?.header("WARC-Target-URI")).toBe(url);
    expect(answered?.header("WARC-Date")).toBe("2026-01-02T03:04:05.678Z");
    expect(answered?.header("WARC-Truncated")).toBe("length");
    expect(answered?.header("WARC-Record-ID")).toBe(`<urn:uuid:${responseId}>`);
    expect(answered?.header("Content-Type")).toBe("application/http; msgtype=response");
    expect(answered?.header("WARC-Payload-Digest")).toBe(labelledDigest(body));
    expect(Buffer.from(answered?.body ?? []).equals(body)).toBe(true);
  });

  it("gives pointers that each name one gzip member", async () => {
    const segment = createWarcSegment("k", {}, date);
    const bodies = ["one", "", "three".repeat(100_000)].map((text) => Buffer.from(text));
    const pointers = [];
    for (const body of bodies) {
      const recordId = newRecordId();
      const member = await responseRecord(response(body), labelledDigest(body), { url, date, recordId });
      pointers.push(...segment.append([{ recordId, member }]));
    }
    const file = segment.contents();
    expect(file).toHaveLength(segment.bytes);
    for (const [index, { offset, length }] of pointers.entries()) {
      const record = parseWarcRecord(gunzipSync(file.subarray(offset, offset + length)), "test");
      expect(record.body.equals(bodies[index] as Buffer)).toBe(true);
    }
  });

  it("has a key by day, job, task, take and segment", () => {
    expect(warcSegmentKey("job", "task", 2, 7, date)).toBe("warcs/2026/01/02/job/task-2-00007.warc.gz");
  });
});

describe("a response record", () => {
  it("keeps headers in order, case and repetition, bytes included, but claims no transfer coding", async () => {
    const recordId = newRecordId();
    const member = await responseRecord(response(Buffer.from("x")), "sha256:0", { url, date, recordId });
    const record = parseWarcRecord(gunzipSync(member), "test");
    expect(record.startLine).toBe("HTTP/1.1 200 OK");
    expect(record.httpHeaders).toEqual(
      headers.map(([name, value]) => [name === "Transfer-Encoding" ? `X-Archive-Orig-${name}` : name, value]),
    );
    expect(gunzipSync(member).includes(Buffer.from("X-Odd: caf\xe9\r\n", "latin1"))).toBe(true);
  });

  it("gives back any body, byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (body) => {
        const member = await responseRecord(response(body), labelledDigest(body), {
          url,
          date,
          recordId: newRecordId(),
        });
        expect(parseWarcRecord(gunzipSync(member), "test").body).toEqual(Buffer.from(body));
        const [record] = await parsed(member);
        expect(Buffer.from(record?.body ?? [])).toEqual(Buffer.from(body));
      }),
      { numRuns: 50 },
    );
  });
});

describe("a revisit record", () => {
  it("refers to what it repeats and holds headers only", async () => {
    const prior = { url, date: "2025-12-31T00:00:00.000Z", recordId: newRecordId(), payloadDigest: "sha256:abc" };
    for (const profile of ["identical-payload-digest", "server-not-modified"] as const) {
      const member = await revisitRecord(
        response(Buffer.from("body")),
        { profile, ...prior },
        { url, date, recordId: newRecordId() },
      );
      const [record] = await parsed(member);
      expect(record?.type).toBe("revisit");
      expect(record?.header("WARC-Profile")).toBe(`http://netpreserve.org/warc/1.1/revisit/${profile}`);
      expect(record?.header("WARC-Refers-To")).toBe(`<urn:uuid:${prior.recordId}>`);
      expect(record?.header("WARC-Refers-To-Target-URI")).toBe(url);
      expect(record?.header("WARC-Refers-To-Date")).toBe(prior.date);
      expect(record?.header("WARC-Payload-Digest")).toBe("sha256:abc");
      expect(record?.body).toHaveLength(0);
    }
  });
});

describe("a head", () => {
  it("of runs of CR is read in the time of its length", () => {
    const long = "\r".repeat(100_000);
    const before = process.cpuUsage();
    const block = `HTTP/1.1 200 OK\r\nX: ${long}x\r\nA: b${long}\n${long}\nbody`;
    const message = parseHttpMessage(Buffer.from(block));
    expect([message.httpHeaders.at(-1), message.body.toString()]).toEqual([["A", "b"], "body"]);
    const text = `WARC/1.1\r\nX: ${long}x\r\nContent-Length: 2${long}\n\nhi`;
    expect(parseWarcRecord(Buffer.from(text), "file").body.toString()).toBe("hi");
    expect(parseHead(Buffer.from(text))).toMatchObject({ blockLength: 2 });
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1_000);
  });

  it.each(["\n\n", "\r\n\r\n", "\r\r\n\r\r\n", "\r\n\n", "\n\r\n"])("ends at %j", (end) => {
    const { httpHeaders, body } = parseHttpMessage(Buffer.from(`HTTP/1.1 200 OK\nA: b${end}body\r\n\r\nmore`));
    expect([httpHeaders, body.toString()]).toEqual([[["A", "b"]], "body\r\n\r\nmore"]);
  });

  it.each([
    ["a blank before a colon", "Content-Length : 2\r\nContent-Type: application/http\r\n"],
    ["a field twice", "Content-Length: 2\r\nContent-Length: 7\r\nContent-Type: text/plain\r\n"],
    ["a folded field", "Content-Length:\r\n 2\r\nContent-Type: text/plain\r\n"],
  ])("with %s is read back as it is indexed", (_, fields) => {
    const text = Buffer.from(`WARC/1.0\r\nWARC-Type: response\r\n${fields}\r\nhi\r\n\r\n`);
    const { warcHeaders } = parseWarcRecord(text, "file");
    expect(parseHead(text.subarray(0, headLength(text)))).toMatchObject({ blockLength: 2, fields: warcHeaders });
    expect(warcHeaders.get("content-length")).toBe("2");
  });

  it.each(["Application/HTTP; msgtype=response", undefined])("tells of HTTP, too, where its type is %s", (type) => {
    const block = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody";
    const fields = `WARC-Type: response\r\n${type === undefined ? "" : `Content-Type: ${type}\r\n`}`;
    const text = `WARC/1.0\r\n${fields}Content-Length: ${block.length}\r\n\r\n${block}`;
    const { httpHeaders, body } = parseWarcRecord(Buffer.from(text), "file");
    expect([httpHeaders, body.toString()]).toEqual([[["A", "b"]], "body"]);
  });
});

describe("bytes that are no record", () => {
  it.each(["", "nonsense", "WARC/1.1\r\nContent-Length: 99\r\n\r\nshort", "WARC/1.1\r\n\r\n"])(
    "are refused: %j",
    (text) => {
      expect(() => parseWarcRecord(Buffer.from(text), "file at 0")).toThrow(/file at 0 cannot be read/);
    },
  );
});
