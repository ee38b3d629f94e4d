/**
 * What an uploaded object is made of: a WARC file, or the WARC files of a WACZ file. Those lie in it as they are, so
 * that their records are read from the object itself; one that was deflated is written out beside the others.
 */
import type { OpenObjectWriter } from "../../platform/aws/multipart.ts";
import type { Uploads } from "../../platform/aws/uploads.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { isZip, type ListedEntry, readWaczPackage, type WaczFault } from "../wacz-file/read-package.ts";
import type { PackageSignature } from "../wacz-file/signed-data.ts";
import { bytesAt, dataOffset, type RangeReader, shown } from "../wacz-file/zip-directory.ts";
import { EntryFault, entryBytes } from "../wacz-file/zip-entry.ts";
import type { ByteSource } from "../warc-file/byte-window.ts";
import { PageTexts } from "./page-texts.ts";
import { hashOf, isStated } from "./stated-digest.ts";

export interface ImportSources {
  uploads: Uploads;
  openWriter: OpenObjectWriter;
  log: Logger;
}

export interface ImportedObject {
  /** Of the import. */
  id: string;
  key: string;
  etag: string;
  bytes: number;
}

export interface FileComplaint {
  code: WaczFault | "ENTRY_DAMAGED" | "HASH_UNCHECKED" | "PAGES_LEFT_OUT";
  message: string;
  /** Bytes from the start of the object. */
  offset: number;
}

export interface ImportPart {
  index: number;
  /** Null: the object itself. */
  entry: ListedEntry | null;
}

export interface ImportFile {
  parts: ImportPart[];
  /** Null of what is no WACZ file. */
  signature: PackageSignature | null;
  pages: PageTexts | null;
  /** What is wrong with it, its WARC files left aside. */
  complaints(hasTime: () => boolean): Promise<FileComplaint[]>;
}

export interface PartSource {
  /** Of the object that holds its records. */
  key: string;
  /** Where it begins in that object. */
  base: number;
  open: ByteSource;
  /** Where in the uploaded object something lies that was found `offset` bytes from the start of the part. */
  placeOf(offset: number): number;
  /** What is wrong with it as a whole. */
  check(hasTime: () => boolean): Promise<FileComplaint | undefined>;
}

export async function openImportFile({ uploads }: ImportSources, object: ImportedObject): Promise<ImportFile> {
  const read = reader(uploads, object);
  const itself: ImportFile = {
    parts: [{ index: 0, entry: null }],
    signature: null,
    pages: null,
    complaints: () => Promise.resolve([]),
  };
  if (!isZip(await bytesAt(read, 0, Math.min(4, object.bytes)))) return itself;
  const wacz = await readWaczPackage(read, object.bytes);
  const pages = new PageTexts();
  const ofPages = await pages.read(read, wacz.pages);
  // without a directory, records are looked for from the first byte on
  const [isCut] = wacz.complaints.filter(({ code }) => code === "ZIP_DAMAGED" && wacz.warcs.length === 0);
  return {
    parts: isCut === undefined ? wacz.warcs.map((entry, index) => ({ index, entry })) : itself.parts,
    signature: wacz.signature,
    pages,
    complaints: async (hasTime) => {
      const ofOthers: FileComplaint[] = [];
      for (const entry of wacz.others) {
        const fault = await hashFault(entryBytes(read, entry), entry, hasTime);
        if (fault !== undefined) ofOthers.push(fault);
      }
      return [...wacz.complaints, ...ofOthers, ...ofPages];
    },
  };
}

export async function openPart(
  sources: ImportSources,
  object: ImportedObject,
  { index, entry }: ImportPart,
): Promise<PartSource | { fault: FileComplaint }> {
  const { uploads } = sources;
  const { key, etag, bytes } = object;
  if (entry === null) {
    const open = (offset: number) => uploads.stream(key, { offset, etag });
    return { key, base: 0, open, placeOf: (offset) => offset, check: () => Promise.resolve(undefined) };
  }
  try {
    if (entry.isDeflated) return await unpacked(sources, object, { index, entry });
    const read = reader(uploads, object);
    const base = await dataOffset(read, entry);
    if (base === undefined) throw new EntryFault("its local header is not the one that the directory tells of");
    return {
      key,
      base,
      open: (offset) => read(base + offset, Math.min(entry.bytes, bytes - base) - offset),
      placeOf: (offset) => base + offset,
      check: (hasTime) => hashFault(entryBytes(read, entry), entry, hasTime),
    };
  } catch (error) {
    if (!(error instanceof EntryFault)) throw error;
    const message = `the entry ${shown(entry.name)} is left out: ${error.message}`;
    return { fault: { code: "ENTRY_DAMAGED", message, offset: entry.headerOffset } };
  }
}

/** A range of no bytes is nothing that S3 could be asked for. */
const reader = (uploads: Pick<Uploads, "stream">, { key, etag }: ImportedObject): RangeReader =>
  async function* (offset, length) {
    if (length > 0) yield* uploads.stream(key, { offset, length, etag });
  };

/** Writes a deflated WARC file out, unless that was done before. */
async function unpacked(
  { uploads, openWriter, log }: ImportSources,
  object: ImportedObject,
  { index, entry }: { index: number; entry: ListedEntry },
): Promise<PartSource> {
  const name = (entry.name.split("/").at(-1) ?? "").replaceAll(/[^\w.+-]/g, "_").slice(-150);
  const key = `${UNPACKED_PREFIX}${object.id}/${index}-${name}`;
  let etag = (await uploads.head(key))?.etag;
  if (etag === undefined) {
    const writer = await openWriter(key, "application/warc");
    try {
      for await (const chunk of entryBytes(reader(uploads, object), entry)) await writer.write(chunk);
      await writer.complete();
    } catch (error) {
      await writer.abort().catch((cause: unknown) => log.warn("an upload is left", { key, error: cause }));
      throw error;
    }
    etag = (await uploads.head(key))?.etag ?? "";
  }
  const written = etag;
  const open: ByteSource = (offset) => uploads.stream(key, { offset, etag: written });
  return {
    key,
    base: 0,
    open,
    placeOf: () => entry.headerOffset,
    check: (hasTime) => hashFault(open(0), entry, hasTime),
  };
}

/** Not below `incoming/`, where an object would wake the indexer. */
const UNPACKED_PREFIX = "warcs/imported/";

async function hashFault(
  bytes: AsyncIterable<Uint8Array>,
  { name, hash, headerOffset: offset }: ListedEntry,
  hasTime: () => boolean,
): Promise<FileComplaint | undefined> {
  const digest = hashOf(hash ?? undefined);
  try {
    for await (const chunk of bytes) {
      digest?.update(chunk);
      if (hasTime()) continue;
      return { code: "HASH_UNCHECKED", message: `no time was left to check the hash of ${shown(name)}`, offset };
    }
  } catch (error) {
    if (!(error instanceof EntryFault)) throw error;
    return { code: "HASH_MISMATCH", message: `${shown(name)} is not what it says: ${error.message}`, offset };
  }
  if (hash === null) return undefined;
  if (digest === undefined) {
    const message = `${shown(name)} is listed with a hash of an unknown kind: ${shown(hash)}`;
    return { code: "HASH_UNCHECKED", message, offset };
  }
  if (isStated(digest.digest(), hash)) return undefined;
  return { code: "HASH_MISMATCH", message: `${shown(name)} is not what its hash was taken over`, offset };
}
