/** WARC and ARC files of other projects' test suites, as they are and damaged: what is indexed, and the complaints. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { archiveSetup } from "./archive-setup.ts";

const setup = await archiveSetup();
afterAll(() => setup.close());

const DIRECTORY = join(import.meta.dirname, "../../fixtures/field/warc");
const sample = (name: string): Buffer => readFileSync(join(DIRECTORY, name));

/** What came of a file: captures of how many records, and the complaints with their places. */
async function outcomeOf(file: Buffer) {
  const { view, complaints } = await setup.importFile(file, "sample");
  const records = Object.values(view.records).reduce((sum, count) => sum + count, 0);
  const [counted] = await setup.sql<{ captures: number; snapshots: number }[]>`
    select count(*)::int as captures, count(*) filter (where mime_type like '%html%' or refers_to is not null)::int as snapshots
    from captures where job_id = ${view.jobId}`;
  expect(counted?.captures).toBe(view.captures);
  return { records, ...counted, complaints: complaints.map(({ code, offset }) => `${code} at ${offset}`) };
}

const SHARED = "MEMBER_SHARED at 0";

/** Name, records, captures, those of them that are snapshots, and complaints. */
const SAMPLES: [string, number, number, number, string[]][] = [
  ["test.warc.gz", 3, 1, 0, []],
  ["single-record.warc.gz", 1, 1, 1, []],
  // garbage behind the one member
  ["corrupted-mid-record.warc.gz", 12, 12, 12, [SHARED, "NOT_A_RECORD at 1219"]],
  ["gowarc/corrupted-trailing-bytes.warc.gz", 30, 30, 30, [SHARED, "NOT_A_RECORD at 2362"]],
  ["gowarc/empty.warc.gz", 0, 0, 0, ["NOT_A_WARC at 0"]],
  ["gowarc/good.warc.gz", 50, 50, 50, [SHARED]],
  ["gowarc/skip-non-open.warc.gz", 10, 10, 10, [SHARED]],
  ["npm-warc/wat.warc", 9, 0, 0, []],
  ["npm-warc/wet.warc", 4, 0, 0, []],
  ["rust-warc/test.warc", 1, 0, 0, []],
  // lengths of three lines are none
  [
    "warcio/bad.arc",
    1,
    0,
    0,
    ["LENGTH_INVALID at 0", "LENGTH_INVALID at 134", "HTTP_INVALID at 202", "LENGTH_INVALID at 262"],
  ],
  ["warcio/example.arc", 2, 1, 1, []],
  ["warcio/example.arc.gz", 2, 1, 1, []],
  // its revisit states the block digest of another block
  ["warcio/example.warc", 6, 2, 2, ["DIGEST_MISMATCH at 3370"]],
  ["warcio/example.warc.gz", 6, 2, 2, ["DIGEST_MISMATCH at 2538"]],
  ["warcio/example-bad-non-chunked.warc.gz", 6, 2, 2, [SHARED, "DIGEST_MISMATCH at 0"]],
  ["warcio/example-bad.warc.gz.bad", 6, 3, 3, [SHARED]],
  ["warcio/example-iana.org-chunked.warc", 3, 1, 1, []],
  ["warcio/example-resource.warc.gz", 3, 1, 1, []],
  // the last two bytes of its answer stand behind its end
  ["warcio/example-trunc.warc", 3, 0, 0, ["LENGTH_WRONG at 1197"]],
  ["warcio/post-test.warc.gz", 6, 0, 0, ["METHOD_NOT_GET at 0", "METHOD_NOT_GET at 1196", "METHOD_NOT_GET at 2395"]],
];

it.each(SAMPLES)("%s has %i records and %i captures", async (name, records, captures, snapshots, complaints) => {
  expect(await outcomeOf(sample(name))).toEqual({ records, captures, snapshots, complaints });
});

it("each sample that lies here is one of these", () => {
  const files = readdirSync(DIRECTORY, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(DIRECTORY.length + 1));
  expect(names.sort()).toEqual(SAMPLES.map(([name]) => name).sort());
});

/** The six members of warcio's example: two of warcinfo, an answer and its request, a revisit and its request. */
const MEMBERS = [0, 353, 784, 2012, 2538, 3123].map((start, index, starts) =>
  sample("warcio/example.warc.gz").subarray(start, starts[index + 1]),
);
const member = (index: number): Buffer => MEMBERS[index] as Buffer;
const ofRevisit = (at: number): string => `DIGEST_MISMATCH at ${at}`;
/** The file with another member in place of the answer. */
const withAnswer = (answer: Buffer): Buffer => Buffer.concat([...MEMBERS.slice(0, 2), answer, ...MEMBERS.slice(3)]);
const plainAnswer = gunzipSync(member(2)).toString("latin1");
const rewritten = (change: (text: string) => string): Buffer =>
  withAnswer(gzipSync(Buffer.from(change(plainAnswer), "latin1")));
const placeOfRevisit = (file: Buffer): number => 2538 + file.length - Buffer.concat(MEMBERS).length;
const damaged = Buffer.from(member(2));
damaged[600] = (damaged[600] as number) ^ 0xff;
const tooLong = rewritten((text) => text.replace("Content-Length: 975", "Content-Length: 9750"));
const tooShort = rewritten((text) => text.replace("Content-Length: 975", "Content-Length: 97"));
const altered = rewritten((text) => text.replace("X-Cache: HIT", "X-Cache: HAT"));
const glued = withAnswer(
  gzipSync(Buffer.from(plainAnswer.trimEnd() + gunzipSync(member(3)).toString("latin1"), "latin1")),
);

const DAMAGES: [string, Buffer, number, number, string[]][] = [
  ["cut within its answer", Buffer.concat(MEMBERS.slice(0, 3)).subarray(0, -200), 2, 0, ["FILE_CUT at 784"]],
  ["with a length that is too long", tooLong, 5, 1, ["LENGTH_WRONG at 784", ofRevisit(placeOfRevisit(tooLong))]],
  ["with a length that is too short", tooShort, 5, 1, ["LENGTH_WRONG at 784", ofRevisit(placeOfRevisit(tooShort))]],
  ["with a member that is damaged", withAnswer(damaged), 5, 1, ["MEMBER_DAMAGED at 784", ofRevisit(2538)]],
  ["with other bytes than its digest is of", altered, 6, 2, [ofRevisit(784), ofRevisit(placeOfRevisit(altered))]],
];

it.each(DAMAGES)("warcio's example %s has the rest", async (_, file, records, captures, complaints) => {
  expect(await outcomeOf(file)).toMatchObject({ records, captures, complaints });
});

it("two records of warcio's example that are glued together are both read", async () => {
  const { records, captures, complaints } = await outcomeOf(glued);
  expect({ records, captures }).toEqual({ records: 7, captures: 2 });
  expect(complaints).toContain("RECORD_END_MISSING at 784");
});
