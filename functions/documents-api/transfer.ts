/** The routes that export documents with their vectors, and import them. */
import { Readable } from "node:stream";
import { z } from "zod";
import { readUploadedObject } from "../../shared/library/files/uploaded-objects.ts";
import { exportPart } from "../../shared/library/transfer/export-documents.ts";
import { importDocuments } from "../../shared/library/transfer/import-documents.ts";
import { readLines } from "../../shared/library/transfer/read-lines.ts";
import { sha256, uuidv7 } from "../../shared/platform/ids.ts";
import { orNull } from "../adapters/api/or-null.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DocumentsApi } from "./dependencies.ts";
import { tagName } from "./documents-json.ts";

/** Of an answer, which is to be there within 29 s. */
const WORK_MS = 15_000;
/** Packed; what uploads take is three times as much. */
const PART_BYTES = 8 * 1024 * 1024;
const MOST_DOCUMENTS = 5_000;
const LINE_BOUNDS = { line: 64 * 1024 * 1024, whole: 512 * 1024 * 1024, lines: 100_000 };

const exportRoute = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/export",
    scope: "read",
    summary:
      "Documents with chunks, sections, tags and vectors as lines of JSON, packed: a part, and where the next begins",
    body: z.strictObject({
      collection_id: orNull(z.uuid()),
      /** Names or ids, all of which a document must have. */
      tags: orNull(z.array(tagName).min(1).max(50)),
      domain: orNull(z.string().min(1).max(255)),
      source: orNull(z.enum(["crawl", "upload", "api"])),
      language: orNull(z.string().min(2).max(3)),
      url_prefix: orNull(z.string().min(1).max(8_000)),
      limit: z.int().min(1).max(MOST_DOCUMENTS).default(MOST_DOCUMENTS),
      /** `next_cursor` of the part before. */
      cursor: orNull(z.uuid()),
    }),
    response: z.object({
      /** Of this part. */
      documents: z.int(),
      bytes: z.int(),
      /** Hex, of the packed bytes. */
      sha256: z.string(),
      /** A gzip file, to be had by GET without a key; parts that are put together are one. */
      download_url: z.string(),
      expires_at: z.iso.datetime(),
      next_cursor: z.uuid().nullable(),
      has_more: z.boolean(),
    }),
  },
  async ({ body: { limit, cursor, ...filter }, caller }, api: DocumentsApi) => {
    const bounds = { bytes: PART_BYTES, documents: limit, until: performance.now() + WORK_MS };
    const source = { sql: api.sql, vectors: api.vectors, model: api.descriptor };
    const { gzip, documents, next } = await exportPart(
      source,
      { ...filter, deleted: false, limit: caller.collectionIds },
      cursor,
      bounds,
    );
    const key = `uploads/exports/${uuidv7()}.jsonl.gz`;
    await api.objects.put(key, gzip, "application/gzip");
    const { url, expiresAt } = await api.links.linkTo(key);
    return {
      ...{ documents, bytes: gzip.length, sha256: sha256(gzip).toString("hex"), download_url: url },
      expires_at: new Date(expiresAt).toISOString(),
      ...{ next_cursor: next, has_more: next !== null },
    };
  },
);

const importRoute = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/import",
    scope: "write",
    summary: "Store documents that were exported; a line that fails leaves the others alone",
    body: z
      .strictObject({
        /** A file of such lines, packed by gzip or not, that was PUT where POST /api/v1/documents/uploads said. */
        upload_id: orNull(z.uuid()),
        /** In its place: the lines themselves. */
        content: orNull(z.string().min(1)),
        /** Where all of it goes; left out: each into the collection of the name that it was in. */
        collection_id: orNull(z.uuid()),
        /** `next_line` of the answer before. */
        from_line: z.int().min(1).default(1),
      })
      .refine(
        ({ upload_id, content }) => (upload_id === undefined) !== (content === undefined),
        "one of upload_id and content is needed, and no more",
      ),
    response: z.object({
      created: z.int(),
      updated: z.int(),
      /** Those that are there and say the same. */
      unchanged: z.int(),
      /** Lines of which nothing was stored, from 1 on, and why. */
      failed: z.array(z.object({ line: z.int(), code: z.string(), error: z.string() })),
      /** Chunks whose vectors came along. */
      vectors: z.int(),
      /** Chunks that are embedded anew, since their vectors are of another model, or missing. */
      to_embed: z.int(),
      /** Where to go on, as `from_line`; null: all was read. */
      next_line: z.int().nullable(),
    }),
  },
  async ({ body, caller }, api: DocumentsApi) => {
    const until = performance.now() + WORK_MS;
    const { upload_id, content = "", collection_id: collectionId, from_line: fromLine } = body;
    const bytes = upload_id === undefined ? Buffer.from(content) : await readUploadedObject(api.uploads, upload_id);
    const lines = readLines(Readable.from([bytes]), LINE_BOUNDS);
    const { toEmbed, nextLine, ...counts } = await importDocuments(api, lines, {
      ...{ collectionId, fromLine, apiKeyId: caller.keyId, until },
    });
    return { ...counts, to_embed: toEmbed, next_line: nextLine };
  },
);

export const transferRoutes = [exportRoute, importRoute];
