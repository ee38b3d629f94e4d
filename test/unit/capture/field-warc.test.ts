/** WARC files that another writer made (test/fixtures/field), read record by record, beside warcio. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { WARCParser } from "warcio";
import { withoutChunks } from "../../../shared/capture/chunked.ts";
import { readWarcRecord, readWarcStart } from "../../../shared/capture/warc-reader.ts";
import type { ObjectStore } from "../../../shared/platform/aws/objects.ts";

const file = (name: string) => readFileSync(join(import.meta.dirname, "../../fixtures/field/warc", name));

function storeOf(bytes: Buffer): Pick<ObjectStore, "get" | "put"> {
  return {
    put: () => Promise.reject(new Error("nothing is written here")),
    get: async (_key, range) =>
      range === undefined ? bytes : bytes.subarray(range.offset, range.offset + range.length),
  };
}

/** Where the gzip members of a file begin: each record is one. */
function members(bytes: Buffer): { key: string; offset: number; length: number }[] {
  const starts: number[] = [];
  const isMember = (at: number): boolean => {
    try {
      const { length } = gunzipSync(bytes.subarray(at), { maxOutputLength: 2 ** 20 });
      return length > 0;
    } catch {
      return false;
    }
  };
  for (
    let at = bytes.indexOf("\x1f\x8b\x08", 0, "latin1");
    at >= 0;
    at = bytes.indexOf("\x1f\x8b\x08", at + 1, "latin1")
  )
    if (isMember(at)) starts.push(at);
  return starts.map((offset, index) => ({ key: "a", offset, length: (starts[index + 1] ?? bytes.length) - offset }));
}

test.each(["test.warc.gz", "single-record.warc.gz"])("the records of %s are those that warcio reads", async (name) => {
  const bytes = file(name);
  const store = storeOf(bytes);
  const ours = [];
  for (const member of members(bytes)) {
    const record = await readWarcRecord(store, member);
    ours.push([
      record.warcHeaders.get("warc-type"),
      record.warcHeaders.get("warc-record-id"),
      record.startLine,
      record.body,
    ]);
  }
  const theirs = [];
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
  });
  for await (const record of WARCParser.iterRecords(stream)) {
    const raw = Buffer.from(await record.readFully(false));
    // warcio undoes chunked framing together with content coding, which these files have none of
    const isChunked = record.httpHeaders?.headers.get("Transfer-Encoding") === "chunked";
    const body = isChunked ? withoutChunks(raw).body : raw;
    const statusLine = record.httpHeaders?.statusline ?? "";
    theirs.push([record.warcType, record.warcHeaders.headers.get("WARC-Record-ID"), statusLine, body]);
  }
  expect(theirs.length).toBeGreaterThan(0);
  expect(ours).toEqual(theirs);
});

test("the start of a long record is its headers and as much of the body as was asked for", async () => {
  const bytes = file("test.warc.gz");
  const last = members(bytes).at(-1) ?? { key: "a", offset: 0, length: 0 };
  const whole = await readWarcRecord(storeOf(bytes), last);
  const start = await readWarcStart(storeOf(bytes), last, 4_000);
  expect({ cut: start.cut, startLine: start.startLine, headers: start.httpHeaders }).toEqual({
    cut: true,
    startLine: "HTTP/1.1 200 OK",
    headers: whole.httpHeaders,
  });
  expect(start.body.length).toBeGreaterThan(1_000);
  expect(whole.body.subarray(0, start.body.length)).toEqual(start.body);
});

test("a file that broke off within a record is no record, and says where", async () => {
  const bytes = file("corrupted-mid-record.warc.gz");
  const reading = readWarcRecord(storeOf(bytes), { key: "a.warc.gz", offset: 0, length: bytes.length });
  await expect(reading).rejects.toThrow(/a\.warc\.gz at 0/);
});
