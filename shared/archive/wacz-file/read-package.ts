/**
 * Reads what a WACZ file says of itself (WACZ 1.1.1): its WARC files, its lists of pages, their hashes, and who has
 * signed them. What does not hold is a complaint; its WARC files are found without it.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { checkSignature, type PackageSignature, signedDataSchema } from "./signed-data.ts";
import { type RangeReader, readZipDirectory, shown, type ZipEntry, type ZipFault } from "./zip-directory.ts";
import { EntryFault, entryBytes } from "./zip-entry.ts";

export type WaczFault =
  | ZipFault
  | "NO_WARC_IN_WACZ"
  | "PACKAGE_MISSING"
  | "PACKAGE_INVALID"
  | "INDEX_MISSING"
  | "RESOURCE_MISSING"
  | "RESOURCE_UNLISTED"
  | "HASH_MISMATCH"
  | "NESTED_WACZ";

export interface WaczComplaint {
  code: WaczFault;
  message: string;
  /** Bytes from the start of the file. */
  offset: number;
}

export interface ListedEntry extends ZipEntry {
  /** As the package lists it, such as `sha256:` and hex; null where it does not. */
  hash: string | null;
}

export interface WaczFile {
  /** In the order of the file. */
  warcs: ListedEntry[];
  pages: ListedEntry[];
  /** What else the package lists. */
  others: ListedEntry[];
  complaints: WaczComplaint[];
  signature: PackageSignature;
}

const resourceSchema = z.object({
  path: z.string(),
  hash: z.string().max(200).optional(),
  bytes: z.number().optional(),
});
const packageSchema = z.object({ resources: z.array(resourceSchema).max(100_000) });
const digestSchema = z.object({ hash: z.string(), signedData: signedDataSchema.optional() });

const PACKAGE = "datapackage.json";
/** Some 200 bytes for each resource. */
const LARGEST_JSON = 32 * 1024 * 1024;
const WARC_NAME = /\.w?arc(\.gz|\.zst)?$/i;
const PAGES_NAME = /^pages\/[^/]+\.jsonl$/i;
const INDEX_NAME = /^indexes\/.+\.(cdxj?|idx)(\.gz)?$/i;
const UNSIGNED: PackageSignature = { outcome: "unsigned", reason: null, signer: null, created: null };

/** Whether a file begins as ZIP files do. */
export const isZip = (start: Buffer): boolean => ["504b0304", "504b0506"].includes(start.toString("hex", 0, 4));

export async function readWaczPackage(read: RangeReader, size: number): Promise<WaczFile> {
  const { entries, complaints: ofZip } = await readZipDirectory(read, size);
  const complaints: WaczComplaint[] = [...ofZip];
  const own = entries.filter(({ name }) => !/(^|\/)(__MACOSX|\._[^/]*)(\/|$)/.test(name));
  const folder = folderOf(own);
  const inFolder = (name: string) => own.find((entry) => entry.name === `${folder}${name}`);
  const described = inFolder(PACKAGE);
  let listed: Resource[] | undefined;
  let signature = UNSIGNED;
  if (entries.length > 0 && described === undefined) {
    complaints.push({ code: "PACKAGE_MISSING", message: `there is no ${PACKAGE}: no hash can be checked`, offset: 0 });
  } else if (described !== undefined) {
    const bytes = await smallEntry(read, described, complaints);
    listed = bytes && parsed(packageSchema, bytes, described, complaints)?.resources;
    const digest = inFolder("datapackage-digest.json");
    if (bytes !== undefined && digest !== undefined) signature = await signatureOf(read, { digest, bytes, complaints });
  }
  const files = own.map((entry) => ({ ...entry, path: entry.name.slice(folder.length), hash: null as string | null }));
  if (listed !== undefined) checkListing(files, listed, complaints);
  if (files.length > 0 && !files.some(({ path }) => INDEX_NAME.test(path))) {
    const message = "there is no index: where each record lies was found by reading its WARC files";
    complaints.push({ code: "INDEX_MISSING", message, offset: 0 });
  }
  for (const { name, headerOffset } of files.filter(({ path }) => /\.wacz$/i.test(path))) {
    const message = `the entry ${shown(name)} is a WACZ file within this one, and is left out: import it by itself`;
    complaints.push({ code: "NESTED_WACZ", message, offset: headerOffset });
  }
  const warcs = files.filter(({ path }) => WARC_NAME.test(path));
  if (warcs.length === 0 && !ofZip.some(({ code }) => code === "ZIP_DAMAGED")) {
    const message = "this is a ZIP file, and holds no WARC file that can be read";
    complaints.push({ code: "NO_WARC_IN_WACZ", message, offset: 0 });
  }
  return {
    warcs,
    pages: files.filter(({ path }) => PAGES_NAME.test(path)),
    others: files.filter(({ path, hash }) => hash !== null && !WARC_NAME.test(path)),
    complaints,
    signature,
  };
}

type Resource = z.infer<typeof resourceSchema>;

/** Where the file was zipped with the folder that it lay in, the name of that, with a slash. */
function folderOf(entries: readonly ZipEntry[]): string {
  const found = entries.filter(({ name }) => name === PACKAGE || name.endsWith(`/${PACKAGE}`));
  const [first] = found.toSorted((one, other) => one.name.split("/").length - other.name.split("/").length);
  return first?.name.slice(0, -PACKAGE.length) ?? "";
}

async function smallEntry(
  read: RangeReader,
  entry: ZipEntry,
  complaints: WaczComplaint[],
): Promise<Buffer | undefined> {
  const { name, headerOffset: offset, bytes } = entry;
  try {
    if (bytes > LARGEST_JSON) throw new EntryFault(`its ${bytes} bytes are too many`);
    const parts: Uint8Array[] = [];
    for await (const chunk of entryBytes(read, entry)) parts.push(chunk);
    return Buffer.concat(parts);
  } catch (error) {
    if (!(error instanceof EntryFault)) throw error;
    complaints.push({ code: "PACKAGE_INVALID", message: `${shown(name)} cannot be read: ${error.message}`, offset });
    return undefined;
  }
}

function parsed<T>(
  schema: z.ZodType<T>,
  bytes: Buffer,
  { name, headerOffset: offset }: ZipEntry,
  complaints: WaczComplaint[],
): T | undefined {
  try {
    return schema.parse(JSON.parse(bytes.toString("utf8")));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error).slice(0, 500) : "it is no JSON";
    complaints.push({ code: "PACKAGE_INVALID", message: `${shown(name)} cannot be used: ${why}`, offset });
    return undefined;
  }
}

async function signatureOf(
  read: RangeReader,
  { digest, bytes, complaints }: { digest: ZipEntry; bytes: Buffer; complaints: WaczComplaint[] },
): Promise<PackageSignature> {
  const content = await smallEntry(read, digest, complaints);
  const stated = content && parsed(digestSchema, content, digest, complaints);
  if (stated === undefined) return UNSIGNED;
  const hash = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  if (stated.hash !== hash) {
    const message = `${PACKAGE} is not the one whose hash ${shown(digest.name)} states`;
    complaints.push({ code: "HASH_MISMATCH", message, offset: digest.headerOffset });
  }
  return stated.signedData === undefined ? UNSIGNED : checkSignature(stated.signedData, hash);
}

/** Gives files the hashes that they are listed with. */
function checkListing(
  files: (ListedEntry & { path: string })[],
  listed: readonly Resource[],
  complaints: WaczComplaint[],
): void {
  const byPath = new Map(files.map((file) => [file.path, file]));
  for (const { path, hash, bytes } of listed) {
    const file = byPath.get(path);
    if (file === undefined) {
      const message = `${PACKAGE} lists ${shown(path)}, which is not there or was left out`;
      complaints.push({ code: "RESOURCE_MISSING", message, offset: 0 });
      continue;
    }
    file.hash = labelled(hash);
    if (hash === undefined && bytes !== undefined && bytes !== file.bytes) {
      const message = `${shown(file.name)} has ${file.bytes} bytes, and is listed with ${bytes}`;
      complaints.push({ code: "HASH_MISMATCH", message, offset: file.headerOffset });
    }
  }
  for (const { name, path, hash, headerOffset: offset } of files) {
    if (hash !== null || !WARC_NAME.test(path)) continue;
    const message = `${shown(name)} is not listed with a hash: nothing says that it belongs to the file`;
    complaints.push({ code: "RESOURCE_UNLISTED", message, offset });
  }
}

/** Data packages name the algorithm, but for MD5. */
const labelled = (hash: string | undefined): string | null =>
  hash === undefined ? null : /^[0-9a-f]{32}$/i.test(hash) ? `md5:${hash}` : hash;
