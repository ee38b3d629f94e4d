/** The routes that list, show, upload, delete, restore, tag and reindex documents; those of what they are kept in. */
import { z } from "zod";
import {
  deleteDocuments,
  reindexDocuments,
  restoreDocument,
  tagDocuments,
} from "../../shared/library/change-documents.ts";
import { announceUpload, LARGEST_FILE, readUploadedObject } from "../../shared/library/files/uploaded-objects.ts";
import {
  countDocuments,
  listChunks,
  listDocuments,
  missingDocument,
  readDocument,
  requireDocument,
} from "../../shared/library/stored-documents.ts";
import { type Upload, uploadDocuments } from "../../shared/library/upload-documents.ts";
import { createApi } from "../adapters/api/api.ts";
import { batchItem, workOnBatch } from "../adapters/api/batch-item.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { chunkSizeRoutes } from "./chunk-sizes.ts";
import { collectionRoutes } from "./collections.ts";
import { type DocumentsApi, documentsApi, within } from "./dependencies.ts";
import {
  announcedSchema,
  batchJson,
  batchSchema,
  changedSchema,
  changeEach,
  chunkJson,
  chunkSchema,
  documentIds,
  documentJson,
  documentSchema,
  flag,
  listedJson,
  listedSchema,
  pageOf,
  SHOWN_CHUNKS,
  tagName,
  type UploadBody,
  uploadedSchema,
  uploadSchema,
} from "./documents-json.ts";
import { modelRoutes } from "./embedding-models.ts";
import { generationRoutes } from "./generations.ts";
import { llms } from "./llms.ts";
import { reconcile } from "./reconcile.ts";
import { sectionRoutes } from "./sections.ts";
import { transferRoutes } from "./transfer.ts";

const params = z.strictObject({ document_id: z.uuid() });
const instant = z.iso.datetime({ offset: true });

const filters = {
  collection_id: z.uuid().optional(),
  /** Names or ids, parted by commas: documents that have them all. */
  tags: z
    .string()
    .min(1)
    .max(2_000)
    .transform((text) =>
      text
        .split(",")
        .map((tag) => tag.trim().toLowerCase())
        .filter((tag) => tag !== ""),
    )
    .optional(),
  domain: z.string().min(1).max(255).optional(),
  source: z.enum(["crawl", "upload", "api"]).optional(),
  language: z.string().min(2).max(3).optional(),
  url: z.string().min(1).max(8_000).optional(),
  url_prefix: z.string().min(1).max(8_000).optional(),
  job_id: z.uuid().optional(),
  date_from: instant.optional(),
  date_to: instant.optional(),
  /** Those that were deleted and can be restored, instead of the others. */
  deleted: flag,
};

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/documents",
    scope: "read",
    limited: true,
    summary: "The documents that can be found, newest first; or those that were deleted",
    query: z.strictObject({
      ...filters,
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
      /** Whether all that match are counted. */
      count: flag,
    }),
    response: pageOf(listedSchema).extend({ total: z.int().nullable() }),
  },
  async ({ query: { limit, cursor, count, ...asked }, caller }, { sql }: DocumentsApi) => {
    const filter = { ...asked, limit: caller.collectionIds };
    const found = await listDocuments(sql, filter, { limit: limit + 1, after: cursor });
    const total = count ? await countDocuments(sql, filter) : null;
    return { ...cursorPage(found.map(listedJson), limit, ({ id }) => id), total };
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/documents/{document_id}",
    scope: "read",
    limited: true,
    summary: "A document with its text and its first chunks",
    params,
    response: documentSchema,
  },
  async ({ params: { document_id }, caller }, { sql }: DocumentsApi) => {
    const document = await readDocument(sql, document_id, caller.collectionIds);
    return documentJson(document, await listChunks(sql, document_id, { limit: SHOWN_CHUNKS, after: -1 }));
  },
);

const chunks = defineRoute(
  {
    method: "GET",
    path: "/api/v1/documents/{document_id}/chunks",
    scope: "read",
    limited: true,
    summary: "The chunks of a document in the order of its text",
    params,
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.string().regex(/^\d{1,9}$/)),
    }),
    response: pageOf(chunkSchema),
  },
  async ({ params: { document_id }, query: { limit, cursor }, caller }, { sql }: DocumentsApi) => {
    await requireDocument(sql, document_id, caller.collectionIds);
    const found = await listChunks(sql, document_id, {
      limit: limit + 1,
      after: cursor === undefined ? -1 : Number(cursor),
    });
    return cursorPage(found.map(chunkJson), limit, ({ chunk_index }) => String(chunk_index));
  },
);

const upload = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents",
    scope: "write",
    limited: true,
    summary: "Store a document of one's own: Markdown, HTML, plain text, PDF or DOCX",
    body: uploadSchema,
    status: 201,
    response: uploadedSchema,
  },
  async ({ body, caller }, api: DocumentsApi) => {
    const [outcome] = await uploadDocuments(within(api, caller), [uploadOf(body, api)], caller.keyId, api.maxTokens);
    if (outcome === undefined) throw new Error("An upload has no outcome");
    if ("error" in outcome) throw outcome.error;
    return outcome;
  },
);

const announce = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/uploads",
    scope: "write",
    summary: "Say where a file is to be PUT that is larger than a request may be: a document is made of its upload_id",
    body: z.strictObject({
      bytes: z.int().positive().max(LARGEST_FILE, `is over the ${LARGEST_FILE} bytes that are read: divide the file`),
      sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits in lower case"),
    }),
    status: 201,
    response: announcedSchema,
  },
  async ({ body: { sha256 } }, { links }: DocumentsApi) => {
    const { id, url, headers, expiresAt } = await announceUpload(links, sha256);
    return {
      ...{ upload_id: id, upload_url: url, method: "PUT" as const, headers },
      expires_at: new Date(expiresAt).toISOString(),
    };
  },
);

const uploadBatch = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/batch",
    scope: "write",
    limited: true,
    summary: "Store up to 50 documents; one that fails leaves the others alone",
    body: z.strictObject({ documents: z.array(batchItem(uploadSchema)).min(1).max(50) }),
    response: batchSchema,
  },
  async ({ body: { documents }, caller }, api: DocumentsApi) =>
    batchJson(
      await workOnBatch("documents", documents, async (bodies) => {
        const uploads = bodies.map((each) => uploadOf(each, api));
        return await uploadDocuments(within(api, caller), uploads, caller.keyId, api.maxTokens);
      }),
    ),
);

function uploadOf(body: UploadBody, { uploads }: DocumentsApi): Upload {
  const { content, content_base64, upload_id, content_type, collection_id, ...more } = body;
  const contentOf = (): Upload["content"] => {
    if (upload_id !== undefined) return () => readUploadedObject(uploads, upload_id);
    return content ?? Buffer.from(content_base64 ?? "", "base64");
  };
  return { ...more, content: contentOf(), contentType: content_type, collectionId: collection_id ?? null };
}

const remove = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/documents/{document_id}",
    scope: "write",
    limited: true,
    summary: "Delete a document: nothing finds it, and no crawl brings it back; it can be restored for 30 days",
    params,
    status: 204,
    response: z.null(),
  },
  async ({ params: { document_id }, caller }, api: DocumentsApi) => {
    const { changed } = await deleteDocuments(within(api, caller), [document_id]);
    if (changed.length === 0) throw missingDocument(document_id);
    return null;
  },
);

const erase = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/documents/{document_id}/permanently",
    scope: "admin",
    summary: "Delete a document for good, deleted before or not",
    params,
    status: 204,
    response: z.null(),
  },
  async ({ params: { document_id }, caller }, api: DocumentsApi) => {
    // maintenance removes the rows
    await api.flags.markActive();
    const { changed } = await deleteDocuments(within(api, caller), [document_id], true);
    if (changed.length === 0) throw missingDocument(document_id);
    return null;
  },
);

const bulkDelete = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/delete",
    scope: "write",
    limited: true,
    summary: "Delete up to 1,000 documents",
    body: z.strictObject({ document_ids: documentIds }),
    response: changedSchema,
  },
  async ({ body: { document_ids }, caller }, api: DocumentsApi) =>
    await changeEach(document_ids, (ids) => deleteDocuments(within(api, caller), ids)),
);

const restore = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/{document_id}/restore",
    scope: "write",
    limited: true,
    summary: "Show a deleted document again; crawls may replace it again",
    params,
    response: listedSchema,
  },
  async ({ params: { document_id }, caller }, api: DocumentsApi) => {
    await restoreDocument(within(api, caller), document_id);
    return listedJson(await readDocument(api.sql, document_id, caller.collectionIds));
  },
);

const reindex = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/{document_id}/reindex",
    scope: "write",
    limited: true,
    summary: "Make the vectors of a document anew, by the model that is configured",
    params,
    status: 202,
    response: changedSchema,
  },
  async ({ params: { document_id }, caller }, api: DocumentsApi) => {
    const changed = await reindexDocuments(within(api, caller), [document_id]);
    if (changed.changed.length === 0) throw missingDocument(document_id);
    return changed;
  },
);

const tag = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/{document_id}/tags",
    scope: "write",
    limited: true,
    summary: "Add tags to a document, by name; those that are missing are made",
    params,
    body: z.strictObject({ tags: z.array(tagName).min(1).max(50) }),
    response: listedSchema,
  },
  async ({ params: { document_id }, body: { tags }, caller }, api: DocumentsApi) => {
    const { changed } = await tagDocuments(within(api, caller), [document_id], { add: tags });
    if (changed.length === 0) throw missingDocument(document_id);
    return listedJson(await readDocument(api.sql, document_id, caller.collectionIds));
  },
);

const untag = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/documents/{document_id}/tags/{tag_id}",
    scope: "write",
    limited: true,
    summary: "Take a tag from a document",
    params: z.strictObject({ document_id: z.uuid(), tag_id: z.uuid() }),
    status: 204,
    response: z.null(),
  },
  async ({ params: { document_id, tag_id }, caller }, api: DocumentsApi) => {
    const { changed } = await tagDocuments(within(api, caller), [document_id], { remove: [tag_id] });
    if (changed.length === 0) throw missingDocument(document_id);
    return null;
  },
);

const bulkTags = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/tags",
    scope: "write",
    limited: true,
    summary: "Add tags to up to 1,000 documents, and take others from them",
    body: z.strictObject({
      document_ids: documentIds,
      add: z.array(tagName).max(50).default([]),
      remove: z.array(tagName).max(50).default([]),
    }),
    response: changedSchema,
  },
  async ({ body: { document_ids, add, remove }, caller }, api: DocumentsApi) =>
    await changeEach(document_ids, (ids) => tagDocuments(within(api, caller), ids, { add, remove })),
);

export const api = createApi(
  "documents-api",
  [
    // before the routes whose paths have an id in this place
    ...[llms, ...chunkSizeRoutes],
    ...[list, show, chunks, upload, announce, uploadBatch, remove, erase, bulkDelete, restore, reindex],
    ...[
      tag,
      untag,
      bulkTags,
      reconcile,
      ...sectionRoutes,
      ...transferRoutes,
      ...collectionRoutes,
      ...generationRoutes,
      ...modelRoutes,
    ],
  ],
  documentsApi,
);
export const handler = api.handler;
