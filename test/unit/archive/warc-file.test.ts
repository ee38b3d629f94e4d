import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readWarcFile, type WarcReading } from "../../../shared/archive/warc-file/read-warc-file.ts";
import { arcLine } from "../../../shared/capture/arc-head.ts";

const head = (type: string, length: number | string, extra = ""): string =>
  `WARC/1.1\r\nWARC-Type: ${type}\r\nWARC-Target-URI: http://example.org/${extra}\r\n` +
  `WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:test:${extra}>\r\nContent-Length: ${length}\r\n\r\n`;

/** A record with this block, and its end. */
const record = (name: string, block: string | Buffer = `block of ${name}`, length = Buffer.byteLength(block)): Buffer =>
  Buffer.concat([Buffer.from(head("resource", length, name)), Buffer.from(block), Buffer.from("\r\n\r\n")]);

/** In chunks of a size that cuts everything in two. */
const source = (file: Buffer, chunkBytes = 1000) =>
  async function* (offset: number) {
    for (let at = offset; at < file.length; at += chunkBytes) yield file.subarray(at, at + chunkBytes);
  };

interface Seen {
  names: string[];
  blocks: string[];
  places: { offset: number; length: number; coding?: string | undefined; inner?: number | undefined }[];
  complaints: { code: string; offset: number }[];
  messages: string[];
}

async function read(file: Buffer, reading: WarcReading = {}, chunkBytes = 1000): Promise<Seen> {
  const seen: Seen = { names: [], blocks: [], places: [], complaints: [], messages: [] };
  for await (const event of readWarcFile(source(file, chunkBytes), { keep: () => 1e6, ...reading })) {
    if (event.kind === "complaint") {
      seen.complaints.push({ code: event.code, offset: event.offset });
      seen.messages.push(event.message);
      continue;
    }
    seen.names.push(event.head.fields.get("warc-record-id")?.slice(10, -1) ?? "");
    seen.blocks.push(event.block.toString("latin1"));
    seen.places.push(event.place);
  }
  return seen;
}

const gzip = (bytes: Buffer): Buffer => gzipSync(bytes);
const zstd = (bytes: Buffer): Buffer => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
const plain = (bytes: Buffer): Buffer => bytes;
const CODINGS = [
  ["gzip", gzip],
  ["zstd", zstd],
  ["none", plain],
] as const;
/** Does not compress, so that a member takes several chunks and steps. */
const noise = (bytes: number): Buffer => {
  const out = Buffer.alloc(bytes);
  for (let at = 0, state = 12345; at < bytes; at++) {
    state = Math.imul(state, 1103515245) + 12345;
    out[at] = state >>> 24;
  }
  return out;
};

describe.each(CODINGS)("a file of %s records", (coding, compress) => {
  const blocks = [Buffer.from("one"), noise(700_000), Buffer.alloc(0), Buffer.from("\r\n\r\nWARC/1.1\r\n")];
  const members = blocks.map((block, index) => compress(record(`r${index}`, block)));
  const offsets = members.map((_, index) => Buffer.concat(members.slice(0, index)).length);

  it.each([7, 1000, 1e7])("is read record by record, in chunks of %i bytes", async (chunkBytes) => {
    const file = Buffer.concat(members);
    const seen = await read(file, {}, chunkBytes === 7 ? 997 : chunkBytes);
    expect(seen.complaints).toEqual([]);
    expect(seen.blocks).toEqual(blocks.map((block) => block.toString("latin1")));
    expect(seen.places).toEqual(
      members.map(({ length }, index) => ({
        offset: offsets[index],
        length,
        ...(coding === "gzip" ? {} : { coding }),
      })),
    );
  });

  it("goes on from any of its records", async () => {
    const from = { offset: offsets[2] as number, inner: 0 };
    expect((await read(Buffer.concat(members), { from })).names).toEqual(["r2", "r3"]);
  });

  it("is read up to where it is cut, and says so", async () => {
    const file = Buffer.concat(members);
    const seen = await read(file.subarray(0, (offsets[1] as number) + 300_000));
    expect(seen.names).toEqual(["r0"]);
    expect(seen.complaints).toEqual([{ code: "FILE_CUT", offset: offsets[1] }]);
  });

  it("shows all of a block that is not kept", async () => {
    const lengths: number[] = [];
    const observe = () => {
      const index = lengths.push(0) - 1;
      return (bytes: Buffer) => {
        lengths[index] = (lengths[index] as number) + bytes.length;
      };
    };
    const seen = await read(Buffer.concat(members), { keep: () => 2, observe });
    expect(lengths).toEqual(blocks.map(({ length }) => length));
    expect(seen.blocks).toEqual(blocks.map((block) => block.toString("latin1", 0, 2)));
  });

  it("leaves out a record whose Content-Length is too long, and goes on", async () => {
    const wrong = compress(record("wrong", "short", 25));
    const seen = await read(Buffer.concat([members[0] as Buffer, wrong, members[3] as Buffer]));
    expect(seen.names).toEqual(["r0", "r3"]);
    expect(seen.complaints).toEqual([{ code: "LENGTH_WRONG", offset: offsets[1] }]);
  });

  it("leaves out a record whose Content-Length is too short, and goes on", async () => {
    const wrong = compress(record("wrong", "longer than it says", 5));
    const seen = await read(Buffer.concat([members[0] as Buffer, wrong, members[3] as Buffer]));
    expect(seen.names).toEqual(["r0", "r3"]);
    expect(seen.complaints).toEqual([{ code: "LENGTH_WRONG", offset: offsets[1] }]);
  });

  it.each(["x", "-1", "1e3", "99999999999999999999"])("leaves out a record with Content-Length %s", async (length) => {
    const wrong = compress(Buffer.from(`${head("resource", length)}block\r\n\r\n`));
    const seen = await read(Buffer.concat([members[0] as Buffer, wrong, members[3] as Buffer]));
    expect(seen.names).toEqual(["r0", "r3"]);
    expect(seen.complaints).toEqual([{ code: "LENGTH_INVALID", offset: offsets[1] }]);
  });

  it("leaves out a record with endless fields, and goes on", async () => {
    const long = compress(record("u".repeat(3_000_000)));
    const seen = await read(Buffer.concat([members[0] as Buffer, long, members[3] as Buffer]), {}, 100_000);
    expect(seen.names).toEqual(["r0", "r3"]);
    expect(seen.complaints).toEqual([{ code: "HEAD_TOO_LONG", offset: offsets[1] }]);
  });

  it("skips garbage between records", async () => {
    const garbage = Buffer.from("garbage \x1f\x8b\x08 that WARC/ is no record WARC/1.0\r\n\r\n");
    const seen = await read(Buffer.concat([members[0] as Buffer, garbage, members[3] as Buffer]));
    expect(seen.names).toEqual(["r0", "r3"]);
    expect(seen.complaints).toEqual([{ code: "NOT_A_RECORD", offset: offsets[1] }]);
  });

  it("reads records that are glued together", async () => {
    const [one, two] = [record("a").subarray(0, -4), record("b")];
    const seen = await read(Buffer.concat([compress(Buffer.concat([one, two])), members[0] as Buffer]));
    expect(seen.names).toEqual(["a", "b", "r0"]);
    expect(seen.complaints.map(({ code }) => code)).toEqual(
      coding === "none" ? ["RECORD_END_MISSING"] : ["RECORD_END_MISSING", "MEMBER_SHARED"],
    );
  });

  it("takes a last record without the empty lines behind it, and empty lines too many", async () => {
    const file = Buffer.concat([
      compress(Buffer.concat([record("a"), Buffer.from("\r\n\n")])),
      compress(record("b").subarray(0, -4)),
    ]);
    const seen = await read(file);
    expect(seen).toMatchObject({ names: ["a", "b"], complaints: [] });
  });
});

describe.each(CODINGS.slice(0, 2))("%s", (_, compress) => {
  it("says where a member is damaged, and goes on behind it", async () => {
    for (const size of [2000, 700_000]) {
      const members = ["a", "b", "c"].map((name) => compress(record(name, noise(size))));
      const damaged = Buffer.from(members[1] as Buffer);
      damaged.fill(0xff, 40, 60);
      damaged.fill(0xff, damaged.length - 30, damaged.length - 5);
      const seen = await read(Buffer.concat([members[0] as Buffer, damaged, members[2] as Buffer]));
      expect(seen.names).toEqual(["a", "c"]);
      expect(seen.complaints).toEqual([{ code: "MEMBER_DAMAGED", offset: members[0]?.length }]);
    }
  });

  it("reads a file that is compressed as a whole, and goes on within it", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `r${index}`);
    const records = names.map((name) => record(name, noise(20_000)));
    const file = compress(Buffer.concat(records));
    const seen = await read(file);
    expect(seen.names).toEqual(names);
    expect(seen.complaints).toEqual([{ code: "MEMBER_SHARED", offset: 0 }]);
    const inner = Buffer.concat(records.slice(0, 40)).length;
    expect(seen.places[40]).toMatchObject({ offset: 0, inner });
    expect(await read(file, { from: { offset: 0, inner } })).toMatchObject({ names: names.slice(40), complaints: [] });
  });

  it("reads records that run over the ends of members", async () => {
    const records = Buffer.concat(["a", "b", "c"].map((name) => record(name, noise(30_000))));
    const file = Buffer.concat(
      [0, 1, 2, 3, 4, 5, 6, 7].map((at) => compress(records.subarray(at * 12_000, (at + 1) * 12_000))),
    );
    const seen = await read(file);
    expect(seen.names).toEqual(["a", "b", "c"]);
    expect(new Set(seen.complaints.map(({ code }) => code))).toEqual(new Set(["MEMBER_SHARED"]));
  });
});

it("takes plain and compressed records in one file", async () => {
  const file = Buffer.concat([record("a"), gzip(record("b")), zstd(record("c")), record("d"), gzip(record("e"))]);
  expect(await read(file)).toMatchObject({ names: ["a", "b", "c", "d", "e"], complaints: [] });
});

it("does not try for ever what only looks like a member", async () => {
  const file = Buffer.concat([record("a"), Buffer.alloc(6_000_000, Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]))]);
  const { cpuUsage } = process;
  const before = cpuUsage();
  expect((await read(file, {}, 100_000)).names).toEqual(["a"]);
  expect(cpuUsage(before).user / 1e6).toBeLessThan(5);
});

it("finds a record that begins where a damaged head seems to end", async () => {
  const damaged = record("a");
  damaged[damaged.indexOf("\r\n\r\n") + 1] = 0x0b;
  const last = record("c", "another");
  last[0] = 0x56;
  const { names } = await read(Buffer.concat([damaged, record("b", noise(500)), last, record("d")]));
  expect(names).toEqual(["b", "d"]);
});

it.each([
  ["one empty line instead of two behind a record", "\r\n", "\r\n", ["RECORD_END_MISSING"]],
  ["two CR before each LF", "\r\r\n", "\r\r\n\r\r\n", []],
])("takes %s", async (_, lineEnd, recordEnd, codes) => {
  const lines = ["WARC/1.0", "WARC-Record-ID: <urn:test:a>", "Content-Length: 2", "", "hi"];
  const one = Buffer.from(lines.join(lineEnd) + recordEnd);
  const { blocks, complaints } = await read(Buffer.concat([one, record("b")]));
  expect(blocks).toEqual(["hi", "block of b"]);
  expect(complaints.map(({ code }) => code)).toEqual(codes);
});

it("takes lines that end in LF alone, folded fields and older versions", async () => {
  const file = Buffer.from("WARC/0.18\nWARC-Record-ID: <urn:test:a\n  b>\nContent-Length: 2\n\nhi\n\n");
  expect(await read(file)).toMatchObject({ names: ["a b"], blocks: ["hi"], complaints: [] });
});

it("holds a record of gigabytes and a bomb in little memory", async () => {
  const zeros = Buffer.alloc(64 * 1024 * 1024);
  const parts = [
    Buffer.from(head("resource", 8 * zeros.length, "large")),
    ...Array(8).fill(zeros),
    Buffer.from("\r\n\r\n"),
  ];
  const file = gzipSync(Buffer.concat(parts), { level: 1 });
  const before = process.memoryUsage().rss;
  const seen = await read(file, { keep: () => 100 });
  expect(seen).toMatchObject({ names: ["large"], complaints: [] });
  expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
});

it.each([
  ["an empty file", Buffer.alloc(0), /empty/],
  ["a picture", Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), noise(5000)]), /no WARC record/],
  [
    "an ARC file",
    gzip(Buffer.from("filedesc://x.arc 0.0.0.0 20260101000000 text/plain 76\n1 0 x\n")),
    /no WARC record/,
  ],
  ["a plain ARC file", Buffer.from("filedesc://x.arc 0.0.0.0 20260101000000 text/plain 76\n1 0 x\n"), /ARC/],
  ["a damaged ZIP file", Buffer.from("PK\x03\x04 and more"), /ZIP file, and none that can be read/],
])("says that %s is no WARC", async (_, file, message) => {
  const seen = await read(file);
  expect(seen.names).toEqual([]);
  expect(seen.complaints.at(-1)).toEqual({ code: "NOT_A_WARC", offset: 0 });
  expect(seen.messages.at(-1)).toMatch(message);
});

describe("a file that is damaged at random", () => {
  const names = ["a", "b", "c", "d", "e"];

  it.each(CODINGS)("of %s records: those untouched are read, the others complained of", async (_, compress) => {
    const members = names.map((name) => compress(record(name, noise(500))));
    const file = Buffer.concat(members);
    const starts = members.map((__, index) => Buffer.concat(members.slice(0, index)).length);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat(file.length), { freq: 3 }),
        async (flips, end) => {
          const damaged = Buffer.from(file);
          for (const [at, bits] of flips) damaged[at] = (damaged[at] as number) ^ bits;
          const seen = await read(damaged.subarray(0, end ?? file.length), {}, 300);
          const touched = (index: number): boolean => {
            const [start, stop] = [starts[index] as number, starts[index + 1] ?? file.length];
            return (end !== null && end < stop) || flips.some(([at]) => at >= start && at < stop);
          };
          const whole = names.filter((__, index) => !touched(index));
          expect(seen.names.filter((name) => whole.includes(name))).toEqual(whole);
          for (const place of seen.places) expect(place.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("made of arbitrary bytes never throws", async () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(
        record("a"),
        gzip(record("b")),
        zstd(record("c")),
        Buffer.from("WARC/1.0\r\n"),
        Buffer.from([0x1f, 0x8b, 8, 0]),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
        const { names: seen, complaints } = await read(Buffer.concat(parts), {}, 64);
        expect(seen.length + complaints.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});

describe("an ARC file", () => {
  const version = (number: 1 | 2): string =>
    number === 1
      ? "1 0 A writer\nURL IP-address Archive-date Content-type Archive-length\n"
      : "2 0 A writer\nURL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n";
  const arc = (
    url: string,
    block: string | Buffer,
    number: 1 | 2 = 1,
    length: number | string = Buffer.byteLength(block),
  ) => {
    const more = number === 1 ? "" : "200 abcdef - 97 a.arc.gz ";
    const line = `${url} 93.184.216.34 20140216050221 text/html ${more}${length}\n`;
    return Buffer.concat([Buffer.from(line), Buffer.from(block), Buffer.from("\n")]);
  };
  const begin = (number: 1 | 2 = 1) => arc("filedesc://a.arc", version(number), number);
  const answer = (body: string) => `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n${body}`;
  const urlsOf = async (file: Buffer, reading: WarcReading = {}) => {
    const found: (string | undefined)[] = [];
    const seen = await read(file, { ...reading, keep: (of) => 1e6 + 0 * found.push(of.fields.get("warc-target-uri")) });
    return { ...seen, urls: found };
  };

  it.each([
    ["1, plain", 1, plain],
    ["2, plain", 2, plain],
    ["1, gzip", 1, gzip],
    ["2, gzip", 2, gzip],
  ] as const)("of version %s is read record by record, from any of them", async (_, number, compress) => {
    const long = answer(noise(700_000).toString("latin1"));
    const blocks = [answer("one"), Buffer.from(long, "latin1"), "", answer("http://a.example/ - 1 text/html 3\nabc")];
    const members = [begin(number), ...blocks.map((block, at) => arc(`http://a.example/${at}`, block, number))];
    const files = members.map((member) => compress(member));
    const seen = await urlsOf(Buffer.concat(files));
    expect(seen.complaints).toEqual([]);
    expect(seen.urls).toEqual(["filedesc://a.arc", ...blocks.map((_block, at) => `http://a.example/${at}`)]);
    expect(seen.blocks.slice(1)).toEqual(blocks.map((block) => Buffer.from(block).toString("latin1")));
    const offset = Buffer.concat(files.slice(0, 3)).length;
    expect((await urlsOf(Buffer.concat(files), { from: { offset, inner: 0 } })).urls).toEqual([
      "http://a.example/2",
      "http://a.example/3",
    ]);
  });

  it("tells its records in the words of WARC", async () => {
    const file = Buffer.concat([begin(), arc("http://a.example/", answer("one")), arc("dns:a.example", "1.2.3.4")]);
    const heads: Record<string, string>[] = [];
    await read(file, { keep: (of) => heads.push(Object.fromEntries(of.fields)) });
    const id = expect.stringMatching(/^<arc:[0-9a-f]{64}>$/);
    const common = { "warc-ip-address": "93.184.216.34", "warc-date": "2014-02-16T05:02:21Z", "warc-record-id": id };
    expect(heads).toEqual([
      expect.objectContaining({ ...common, "warc-type": "warcinfo", "content-type": "text/html" }),
      expect.objectContaining({ "warc-type": "response", "content-type": "application/http; msgtype=response" }),
      expect.objectContaining({ "warc-type": "response", "content-type": "text/html", "content-length": "7" }),
    ]);
  });

  it.each([
    ["too short", 10, "LENGTH_WRONG"],
    ["too long", 10_000, "LENGTH_WRONG"],
    ["negative", -1, "LENGTH_INVALID"],
    ["none", "abc", "LENGTH_INVALID"],
  ])("leaves out a record whose length is %s, and goes on", async (_, length, code) => {
    for (const compress of [plain, gzip]) {
      const [first, second] = [begin(), arc("http://a.example/wrong", answer("wrong"), 1, length)];
      const rest = Array.from({ length: 200 }, (_each, at) => compress(arc(`http://a.example/${at}`, answer(`${at}`))));
      const file = Buffer.concat([compress(first), compress(second), ...rest]);
      const seen = await urlsOf(file);
      expect(seen.complaints).toEqual([{ code, offset: compress(first).length }]);
      expect(seen.blocks.slice(1)).toEqual(rest.map((_each, at) => answer(`${at}`)));
    }
  });

  it("that is cut is read up to there, and garbage is passed over", async () => {
    const good = [begin(), arc("http://a.example/0", answer("0"))];
    const cut = await urlsOf(Buffer.concat([...good, arc("http://a.example/1", answer("1")).subarray(0, 90)]));
    expect(cut.blocks).toHaveLength(2);
    expect(cut.complaints).toEqual([{ code: "FILE_CUT", offset: Buffer.concat(good).length }]);
    const garbage = Buffer.from("garbage that is none\nno record - at all\n");
    const seen = await urlsOf(Buffer.concat([...good, garbage, arc("http://a.example/1", answer("1"))]));
    expect(seen.blocks).toHaveLength(3);
    expect(seen.complaints).toEqual([{ code: "NOT_A_RECORD", offset: Buffer.concat(good).length }]);
  });

  it("has URLs longer than any piece that is read at once", async () => {
    const url = `http://a.example/${"u".repeat(9_000)}`;
    expect((await urlsOf(Buffer.concat([begin(), arc(url, answer("0"))]))).urls).toEqual(["filedesc://a.arc", url]);
  });

  it.each([
    ["colons", `http://a.example/ ${":".repeat(60_000)}x 2014 text/html 1 `],
    ["addresses and dates", `http://a.example/${" 1.1.1.1 2014".repeat(4_500)}  `],
    ["blanks", `http://a.example/${" ".repeat(60_000)}`],
  ])("is told from lines of %s in the time of their length", (_, line) => {
    const before = process.cpuUsage();
    expect(arcLine(Buffer.from(`${line}\n`))).toBeUndefined();
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1_000);
  });

  it("may have blanks in its URLs, an IPv6 address, and CR", () => {
    const line = "http://a.example/a b 1.1.1.1 x 2001:db8::1 20140216050221 text/html 12\r\n";
    const found = arcLine(Buffer.from(line))?.fields;
    expect([found?.get("warc-target-uri"), found?.get("warc-ip-address"), found?.get("content-length")]).toEqual([
      "http://a.example/a b 1.1.1.1 x",
      "2001:db8::1",
      "12",
    ]);
  });

  it("is not looked for in a WARC file", async () => {
    const seen = await read(Buffer.concat([record("a"), arc("http://a.example/", answer("0")), record("b")]));
    expect(seen.names).toEqual(["a", "b"]);
    expect(seen.complaints).toEqual([{ code: "NOT_A_RECORD", offset: record("a").length }]);
  });
});
