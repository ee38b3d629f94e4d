/**
 * `release-dataset`: the archive's lists as files with checksums, for others to cite; `verify-dataset`: whether such
 * files are as they were.
 */
import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import { harmless, type Terminal } from "../terminal.ts";

const LISTS = { snapshots: "snapshot_id", changes: "change_id" } as const;
type List = keyof typeof LISTS;
const MANIFEST = "manifest.json";
/** As `sha256sum -c` reads it; written last, so that a folder without it is none. */
const SUMS = "SHA256SUMS";

interface ReleasedFile {
  file: string;
  rows: number;
  bytes: number;
  sha256: string;
  columns: unknown;
}

interface Manifest {
  createdAt: string;
  source: string | null;
  from: string | null;
  to: string | null;
  lists: Record<List, ReleasedFile>;
}

interface Exports {
  enabled: boolean;
  maxLimit: number;
  snapshots: { path: string; columns: unknown };
  changes: { path: string; columns: unknown };
}

export interface ReleaseOptions {
  output: string;
  source?: string;
  from?: string;
  to?: string;
  json?: true;
}

export async function releaseDataset(api: ApiClient, terminal: Terminal, options: ReleaseOptions): Promise<number> {
  const { output, source, from, to, json } = options;
  const exports = await api<Exports>("GET", "/api/exports");
  if (!exports.enabled) throw new CliError("This archive has exports switched off", EXIT.failed);
  const filter = { ...(source && { source }), ...(from && { from }), ...(to && { to }) };
  await refuseEmpty(api, exports, filter);
  await makeEmpty(output);
  const lists = {} as Manifest["lists"];
  for (const name of Object.keys(LISTS) as List[]) {
    const { path, columns } = exports[name];
    const pages = pagesOf(api, { path, filter, limit: exports.maxLimit, id: LISTS[name] });
    lists[name] = { ...(await writeList(output, name, pages)), columns };
  }
  const createdAt = new Date().toISOString();
  const manifest: Manifest = { createdAt, source: source ?? null, from: from ?? null, to: to ?? null, lists };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeFile(join(output, MANIFEST), text, { flag: "wx" });
  const sums = [...Object.values(lists), { file: MANIFEST, sha256: createHash("sha256").update(text).digest("hex") }];
  await writeFile(join(output, SUMS), sums.map(({ file, sha256 }) => `${sha256}  ${file}\n`).join(""), { flag: "wx" });
  if (json) terminal.line(JSON.stringify(manifest, null, 2));
  else for (const { file, rows, bytes } of Object.values(lists)) terminal.line(`${file}: ${rows} rows, ${bytes} bytes`);
  return EXIT.done;
}

/** A release of nothing is a mistake: of a source that is spelled otherwise, or of other days. */
async function refuseEmpty(api: ApiClient, exports: Exports, filter: Record<string, string>): Promise<void> {
  const query = new URLSearchParams({ ...filter, compressed: "false", limit: "1" });
  for (const { path } of [exports.snapshots, exports.changes]) {
    if ((await api<string>("GET", `${path}?${query}`, undefined, "text")) !== "") return;
  }
  const { source, ...days } = filter;
  const sources = await api<{ sourceCode: string }[]>("GET", "/api/sources");
  const codes = sources.map(({ sourceCode }) => sourceCode);
  const isKnown = source === undefined || codes.includes(source.toLowerCase());
  const of = source === undefined ? "" : ` of the source ${source}`;
  const when = Object.keys(days).length === 0 ? "" : " of these days";
  const hint = isKnown && codes.length > 0 ? "Look at --from and --to" : sourcesHint(codes);
  throw new CliError(`The archive has nothing${of}${when}`, EXIT.failed, hint);
}

const MOST_NAMED = 20;

const sourcesHint = (codes: readonly string[]): string =>
  codes.length === 0
    ? "It holds no snapshots yet"
    : `It has: ${codes.slice(0, MOST_NAMED).map(harmless).join(", ")}${codes.length > MOST_NAMED ? ", …" : ""}`;

async function makeEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length === 0) return;
  throw new CliError(`${folder} is not empty`, EXIT.usage, "A release goes into a folder of its own");
}

interface Pages {
  path: string;
  filter: Record<string, string>;
  limit: number;
  /** The column whose value the next page begins behind. */
  id: string;
}

/** The rows as lines of JSON, page by page. */
async function* pagesOf(api: ApiClient, { path, filter, limit, id }: Pages): AsyncGenerator<string[]> {
  for (let after = 0; ; ) {
    const query = new URLSearchParams({ ...filter, compressed: "false", limit: String(limit), afterId: String(after) });
    const text = await api<string>("GET", `${path}?${query}`, undefined, "text");
    // the last one has its end, too, unless the list broke off
    if (text !== "" && !text.endsWith("\n")) throw new CliError("A list broke off: try again", EXIT.failed);
    const lines = text.split("\n").slice(0, -1);
    if (lines.length > 0) yield lines;
    if (lines.length < limit) return;
    after = Number((JSON.parse(lines.at(-1) ?? "{}") as Record<string, unknown>)[id]);
  }
}

async function writeList(folder: string, name: List, pages: AsyncIterable<string[]>) {
  const file = `${name}.jsonl.gz`;
  const hash = createHash("sha256");
  let [rows, bytes] = [0, 0];
  async function* texts(): AsyncGenerator<string> {
    for await (const lines of pages) {
      rows += lines.length;
      yield `${lines.join("\n")}\n`;
    }
  }
  const counted = hashing(hash, (length) => {
    bytes += length;
  });
  const written = createWriteStream(join(folder, file), { flags: "wx" });
  await pipeline(Readable.from(texts()), createGzip(), counted, written);
  return { file, rows, bytes, sha256: hash.digest("hex") };
}

const hashing = (hash: Hash, count: (length: number) => void): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      count(chunk.length);
      done(null, chunk);
    },
  });

/** Whether all is as it was released: the files, and as many rows as the manifest says. */
export async function verifyDataset(terminal: Terminal, folder: string): Promise<number> {
  const sums = await readFile(join(folder, SUMS), "utf8").catch((error: unknown) => {
    throw new CliError(`${folder} holds no ${SUMS}: it is no release, or one that broke off`, EXIT.usage, undefined, {
      cause: error,
    });
  });
  const faults: string[] = [];
  const names = new Set<string>();
  for (const line of sums.split("\n").filter((each) => each !== "")) {
    const [, sha256, name = ""] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (sha256 === undefined || basename(name) !== name) faults.push(`${SUMS} cannot be read: ${line}`);
    else if ((await sumOf(join(folder, name))) !== sha256) faults.push(`${name} is gone, or is not what was released`);
    names.add(name);
  }
  for (const name of [MANIFEST, ...Object.keys(LISTS).map((list) => `${list}.jsonl.gz`)]) {
    if (!names.has(name)) faults.push(`${SUMS} does not name ${name}`);
  }
  if (faults.length === 0) {
    const { lists } = JSON.parse(await readFile(join(folder, MANIFEST), "utf8")) as Manifest;
    for (const { file, rows } of Object.values(lists)) {
      const found = await countLines(join(folder, basename(file)));
      if (found !== rows) faults.push(`${file} has ${found} rows, and the manifest says ${rows}`);
    }
  }
  for (const fault of faults) terminal.line(harmless(fault));
  if (faults.length === 0) terminal.line(`${folder} is as it was released`);
  return faults.length === 0 ? EXIT.done : EXIT.failed;
}

async function sumOf(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

async function countLines(path: string): Promise<number> {
  let lines = 0;
  await pipeline(createReadStream(path), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) for (const byte of chunk) if (byte === 10) lines++;
  });
  return lines;
}
