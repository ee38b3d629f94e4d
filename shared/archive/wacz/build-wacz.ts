/** Writes a job's captures as a WACZ file (WACZ 1.1.1): WARC files, index, list of pages, and the signed package. */
import { createHash } from "node:crypto";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { Uploads } from "../../platform/aws/uploads.ts";
import type { Sql } from "../../platform/database/database.ts";
import { PermanentError } from "../../platform/errors.ts";
import { fillUrlKeys } from "../cdx/url-keys.ts";
import { readWithheld } from "../exclusions/exclusions.ts";
import { copyRanges, planRecords, type SourceFile } from "./copy-records.ts";
import { type PageCount, type PagesOf, pageLines } from "./pages.ts";
import { type Selection, selectedRecords } from "./selection.ts";
import { signHash, signingKey } from "./signature.ts";
import { MAX_PLAIN_ENTRY, type ZipEntry, ZipWriter } from "./zip-writer.ts";

export interface WaczSources {
  sql: Sql;
  objects: Pick<ObjectStore, "get">;
  uploads: Pick<Uploads, "head" | "stream">;
}

/** A job, or what a query of the index finds. */
export type Exported = { jobId: string; selection?: undefined } | { jobId?: undefined; selection: Selection };

export type WaczOptions = Exported & {
  created: Date;
  /** Called before each file; throws where the work is to stop. */
  proceed(): void;
};

export interface WaczContents {
  bytes: number;
  records: number;
  pages: number;
}

const SOFTWARE = "Strandline 0.1.0";
/** Lines of the index are sorted in memory: some 300 bytes each. */
const MOST_RECORDS = 500_000;

/**
 * @param sink takes the bytes of the file, one after the other
 * @throws PermanentError where the job cannot be exported
 */
export async function buildWacz(
  sources: WaczSources,
  { created, proceed, ...of }: WaczOptions,
  sink: (bytes: Uint8Array) => Promise<void>,
): Promise<WaczContents> {
  let bytes = 0;
  const zip = new ZipWriter(async (chunk) => {
    bytes += chunk.length;
    await sink(chunk);
  }, created);
  const resources: ZipEntry[] = [];
  const lines: string[] = [];
  const names = new Set<string>();
  const { files, pagesOf } = of.selection ? await ofSelection(sources, of.selection) : await ofJob(sources, of.jobId);
  const isWithheld = await readWithheld(sources.sql);
  for (const { source, open } of files) {
    proceed();
    const file = await open();
    const name = nameIn(names, source);
    const plan = await planRecords(sources.uploads, file, name, isWithheld);
    if (plan.lines.length === 0) continue;
    for (const line of plan.lines) lines.push(line);
    if (lines.length > MOST_RECORDS) {
      throw tooLarge();
    }
    const copied = copyRanges(sources.uploads, file, plan.ranges);
    resources.push(await zip.add(`archive/${name}`, copied, Math.max(plan.bytes, MAX_PLAIN_ENTRY)));
  }
  if (resources.length === 0) {
    throw new PermanentError("Nothing was captured that could be exported", { code: "EXPORT_EMPTY" });
  }
  proceed();
  lines.sort();
  resources.push(await zip.add("indexes/index.cdxj", linesOf(lines)));
  const count: PageCount = { pages: 0, main: undefined };
  resources.push(await zip.add("pages/pages.jsonl", pageLines(sources, pagesOf, count)));
  const datapackage = Buffer.from(
    JSON.stringify(packageOf(of.jobId ?? of.selection.url, created, count, resources), null, 2),
  );
  await zip.add("datapackage.json", [datapackage]);
  await zip.add("datapackage-digest.json", [await digestOf(sources.sql, datapackage, created)]);
  await zip.end();
  return { bytes, records: lines.length, pages: count.pages };
}

const tooLarge = (): PermanentError =>
  new PermanentError(`There are more than ${MOST_RECORDS} records, as many as an export may hold`, {
    code: "EXPORT_TOO_LARGE",
  });

/** Where the records of an export lie, and which captures its pages are. */
interface Contents {
  files: {
    /** Names it in the export. */
    source: string;
    open(): Promise<SourceFile>;
  }[];
  pagesOf: PagesOf;
}

async function ofJob(sources: WaczSources, jobId: string): Promise<Contents> {
  const rows = await sourcesOf(sources.sql, jobId);
  const files = rows.map((row) => ({ source: row.source, open: () => sourceFile(sources, row) }));
  return { files, pagesOf: { jobId } };
}

async function ofSelection({ sql, uploads }: WaczSources, selection: Selection): Promise<Contents> {
  // captures of an earlier version are in no index yet
  await fillUrlKeys(sql, () => true);
  const { files, ids } = await selectedRecords(sql, selection, MOST_RECORDS);
  if (ids.length > MOST_RECORDS) throw tooLarge();
  const opened = [...files]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, lengths]) => ({
      source: key,
      open: async () => {
        const { etag, bytes } = await existing(uploads, key);
        return { key, etag, from: 0, to: bytes, wanted: new Set(lengths.keys()), lengths };
      },
    }));
  return {
    files: opened,
    pagesOf: { ids: ids.toSorted((one, other) => one - other) },
  };
}

async function existing(uploads: WaczSources["uploads"], key: string): Promise<{ bytes: number; etag: string }> {
  const object = await uploads.head(key);
  if (object === undefined) throw new PermanentError(`There is no WARC file ${key}`, { code: "WARC_MISSING" });
  return object;
}

interface SourceRow {
  /** The file as it was written, which names it in the export. */
  source: string;
  /** The object that has its bytes, and where in it. */
  key: string;
  from: number;
  to: number | null;
  /** Of the job's records, and of their originals in the same file. */
  wanted: number[];
  own: boolean;
}

/**
 * The files that hold records of the job, the DOMs of its rendered pages included. All at once: what is consolidated
 * from now on stays where it was for long enough.
 */
async function sourcesOf(sql: Sql, jobId: string): Promise<SourceRow[]> {
  return await sql<SourceRow[]>`
    with pointed as (
      select warc_key as key, warc_offset as at, false as original from captures
      where job_id = ${jobId} and warc_key is not null
      union select rendered->'warc'->>'key', (rendered->'warc'->>'offset')::bigint, false from captures
      where job_id = ${jobId} and rendered->'warc'->>'key' is not null
      union select o.warc_key, o.warc_offset, true from captures c join captures o on o.id = c.revisit_of
      where c.job_id = ${jobId} and o.warc_key is not null),
    placed as (
      select coalesce(piece.key, p.key) as source, p.key, coalesce(piece.merged_offset, 0) as "from",
        piece.merged_offset + piece.bytes as "to", p.at, p.original
      from pointed p left join lateral (
        select w.key, w.merged_offset, w.bytes from warc_files w
        where w.merged_into = p.key and w.merged_offset <= p.at order by w.merged_offset desc limit 1) piece on true)
    select source, key, "from", "to", array_agg(at) as wanted,
      source like ${`%/${jobId}/%`}
        -- what was deflated in a WACZ file lies below the id of its import
        or exists (select from warc_imports i where i.job_id = ${jobId}
          and (i.object_key = source or source like '%/' || i.id || '/%')) as own
    from placed group by source, key, "from", "to" having bool_or(not original) order by source`;
}

async function sourceFile({ uploads }: WaczSources, { key, from, to, wanted, own }: SourceRow): Promise<SourceFile> {
  const object = await existing(uploads, key);
  // what the crawl cache answered lies among the pages of another job
  return { key, etag: object.etag, from, to: to ?? object.bytes, wanted: own ? null : new Set(wanted) };
}

/** The name of an object as that of a file, which no other one has. */
function nameIn(names: Set<string>, key: string): string {
  const base = (key.split("/").at(-1) ?? "").replaceAll(/[^\w.+-]/g, "_").replace(/(\.warc|\.wacz)?(\.gz)?$/, "");
  let name = `${base}.warc.gz`;
  for (let count = 2; names.has(name); count++) name = `${base}-${count}.warc.gz`;
  names.add(name);
  return name;
}

const AT_ONCE = 1_000;

function* linesOf(lines: readonly string[]): Generator<Buffer> {
  for (let at = 0; at < lines.length; at += AT_ONCE) yield Buffer.from(`${lines.slice(at, at + AT_ONCE).join("\n")}\n`);
}

function packageOf(name: string, created: Date, { main }: PageCount, resources: readonly ZipEntry[]): object {
  return {
    profile: "data-package",
    resources: resources.map(({ path, bytes, sha256 }) => ({
      name: path.split("/").at(-1),
      path,
      hash: `sha256:${sha256}`,
      bytes,
    })),
    wacz_version: "1.1.1",
    title: main === undefined ? name : new URL(main.url).host,
    software: SOFTWARE,
    created: created.toISOString(),
    ...(main && { mainPageUrl: main.url, mainPageDate: main.time.toISOString() }),
  };
}

async function digestOf(sql: Sql, datapackage: Buffer, created: Date): Promise<Buffer> {
  const hash = `sha256:${createHash("sha256").update(datapackage).digest("hex")}`;
  const signedData = signHash(await signingKey(sql), hash, { created, software: SOFTWARE });
  return Buffer.from(JSON.stringify({ path: "datapackage.json", hash, signedData }, null, 2));
}
