/** The routes of collections and tags. */
import { z } from "zod";
import { type CollectionDefaults, collectionDefaultFields } from "../../shared/crawl/settings/collection-defaults.ts";
import { moveDocuments, reindexCollection } from "../../shared/library/change-documents.ts";
import {
  type Collection,
  createCollection,
  deleteCollection,
  listCollections,
  readCollection,
  replaceCollection,
} from "../../shared/library/collections.ts";
import { createTag, deleteTag, listTags, type Tag } from "../../shared/library/tags.ts";
import { cursorPage, cursorParameter, encodeCursor } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { orNull, orNullAs } from "../adapters/api/or-null.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { type DocumentsApi, within } from "./dependencies.ts";
import { changedSchema, changeEach, documentIds, flag, pageOf, tagName } from "./documents-json.ts";

const { chunk_size, chunk_overlap, min_chunk_size, languages, language } = collectionDefaultFields;

const NO_EMBEDDER = "one model answers all searches: configure it for the deployment, and leave this out";
const ownDefaults = z
  .strictObject({
    /** Tokens; in place of 512. */
    chunk_size: orNull(chunk_size),
    /** Tokens; half of chunk_size at the most. */
    chunk_overlap: orNull(chunk_overlap),
    min_chunk_size: orNull(min_chunk_size),
    /** Languages that are made searchable, in place of English. ISO 639-1; "*" means all. */
    languages: orNull(languages),
    /** What documents are in whose language nobody can tell. */
    language: orNull(language),
  })
  .transform((defaults): CollectionDefaults => {
    const said = Object.entries(defaults).filter(([, value]) => value !== undefined);
    return Object.fromEntries(said);
  });
/** Whoever wants another model for a collection is told why there is none. */
const defaultsBody = z.preprocess((defaults, { addIssue }) => {
  if (typeof defaults !== "object" || defaults === null || !("embedder" in defaults)) return defaults;
  addIssue({ code: "custom", path: ["embedder"], message: NO_EMBEDDER });
  const { embedder: _, ...rest } = defaults;
  return rest;
}, ownDefaults);

const collectionSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  /** What whoever fills it leaves open. */
  defaults: z.object({
    chunk_size: z.int().nullable(),
    chunk_overlap: z.int().nullable(),
    min_chunk_size: z.int().nullable(),
    languages: z.array(z.string()).nullable(),
    language: z.string().nullable(),
  }),
  /** That can be found. */
  documents: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

const NO_DEFAULTS = { chunk_size: null, chunk_overlap: null, min_chunk_size: null, languages: null, language: null };

const collectionJson = ({
  created_at,
  updated_at,
  defaults,
  ...rest
}: Collection): z.output<typeof collectionSchema> => ({
  ...rest,
  defaults: { ...NO_DEFAULTS, ...defaults },
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

const collectionBody = z.strictObject({
  /** Unique. */
  name: z.string().trim().min(1).max(100),
  description: orNull(z.string().max(2_000)),
  defaults: orNullAs(defaultsBody, {}),
});
const params = z.strictObject({ collection_id: z.uuid() });
const paging = { limit: numberParameter(z.int().min(1).max(200).default(50)), cursor: cursorParameter(z.uuid()) };

const create = defineRoute(
  {
    method: "POST",
    path: "/api/v1/collections",
    scope: "write",
    summary: "Make a collection, which crawls, uploads and moves can fill",
    body: collectionBody,
    status: 201,
    response: collectionSchema,
  },
  async ({ body: { name, description = null, defaults } }, { sql }: DocumentsApi) =>
    collectionJson(await createCollection(sql, { name, description, defaults })),
);

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/collections",
    scope: "read",
    limited: true,
    summary: "The collections, newest first, with how many documents of each can be found",
    query: z.strictObject(paging),
    response: pageOf(collectionSchema),
  },
  async ({ query: { limit, cursor }, caller }, { sql }: DocumentsApi) => {
    const found = await listCollections(sql, { limit: limit + 1, after: cursor, within: caller.collectionIds });
    return cursorPage(found.map(collectionJson), limit, ({ id }) => id);
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/collections/{collection_id}",
    scope: "read",
    limited: true,
    summary: "A collection",
    params,
    response: collectionSchema,
  },
  async ({ params: { collection_id }, caller }, { sql }: DocumentsApi) =>
    collectionJson(await readCollection(sql, collection_id, caller.collectionIds)),
);

const replace = defineRoute(
  {
    method: "PUT",
    path: "/api/v1/collections/{collection_id}",
    scope: "write",
    summary: "Rename or describe a collection, or change its defaults; its documents stay as they are",
    params,
    body: collectionBody,
    response: collectionSchema,
  },
  async ({ params: { collection_id }, body: { name, description = null, defaults } }, { sql }: DocumentsApi) =>
    collectionJson(await replaceCollection(sql, collection_id, { name, description, defaults })),
);

const remove = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/collections/{collection_id}",
    scope: "write",
    summary: "Delete a collection that is empty, or with its documents",
    params,
    query: z.strictObject({ delete_documents: flag }),
    status: 204,
    response: z.null(),
  },
  async ({ params: { collection_id }, query: { delete_documents } }, { sql, flags }: DocumentsApi) => {
    // maintenance removes what is left of the documents
    await flags.markActive();
    await deleteCollection(sql, collection_id, delete_documents);
    return null;
  },
);

const put = defineRoute(
  {
    method: "POST",
    path: "/api/v1/collections/{collection_id}/documents",
    scope: "write",
    limited: true,
    summary: "Move documents into a collection; searches see it when the answer comes",
    params,
    body: z.strictObject({ document_ids: documentIds }),
    response: changedSchema,
  },
  async ({ params: { collection_id }, body: { document_ids }, caller }, api: DocumentsApi) =>
    await changeEach(document_ids, (ids) => moveDocuments(within(api, caller), ids, collection_id)),
);

const take = defineRoute(
  {
    method: "POST",
    path: "/api/v1/collections/{collection_id}/documents/remove",
    scope: "write",
    summary: "Take documents out of a collection; they can still be found outside of it",
    params,
    body: z.strictObject({ document_ids: documentIds }),
    response: changedSchema,
  },
  async ({ params: { collection_id }, body: { document_ids }, caller }, api: DocumentsApi) => {
    await readCollection(api.sql, collection_id);
    return await changeEach(document_ids, (ids) => moveDocuments(within(api, caller), ids, null, collection_id));
  },
);

const tagSchema = z.object({
  id: z.uuid(),
  /** Lower case. */
  name: z.string(),
  documents: z.int(),
  created_at: z.iso.datetime(),
});
const tagJson = ({ created_at, ...rest }: Tag): z.output<typeof tagSchema> => ({
  ...rest,
  created_at: created_at.toISOString(),
});

const addTag = defineRoute(
  {
    method: "POST",
    path: "/api/v1/tags",
    scope: "write",
    summary: "Make a tag, or find it where it is there",
    body: z.strictObject({ name: tagName }),
    status: 201,
    response: tagSchema,
  },
  async ({ body: { name } }, { sql }: DocumentsApi) => tagJson(await createTag(sql, name)),
);

const tags = defineRoute(
  {
    method: "GET",
    path: "/api/v1/tags",
    scope: "read",
    limited: true,
    summary: "The tags by name, with how many documents that can be found have each",
    query: z.strictObject({ ...paging, cursor: cursorParameter(z.string().min(1).max(100)) }),
    response: pageOf(tagSchema),
  },
  async ({ query: { limit, cursor }, caller }, { sql }: DocumentsApi) => {
    const found = await listTags(sql, { limit: limit + 1, after: cursor, within: caller.collectionIds });
    return cursorPage(found.map(tagJson), limit, ({ name }) => name);
  },
);

const removeTag = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/tags/{tag_id}",
    scope: "write",
    summary: "Delete a tag, and take it from all documents",
    params: z.strictObject({ tag_id: z.uuid() }),
    status: 204,
    response: z.null(),
  },
  async ({ params: { tag_id } }, { sql }: DocumentsApi) => {
    await deleteTag(sql, tag_id);
    return null;
  },
);

const reindex = defineRoute(
  {
    method: "POST",
    path: "/api/v1/collections/{collection_id}/reindex",
    scope: "write",
    limited: true,
    summary:
      "Cut a collection anew as its defaults say by now, and make its vectors anew: up to 200 documents a request",
    params,
    query: z.strictObject({ cursor: cursorParameter(z.uuid()) }),
    status: 202,
    response: z.object({
      documents: z.int(),
      /** Of these, those that were not as the defaults say. */
      recut: z.int(),
      next_cursor: z.string().nullable(),
      has_more: z.boolean(),
    }),
  },
  async ({ params: { collection_id }, query: { cursor }, caller }, api: DocumentsApi) => {
    await readCollection(api.sql, collection_id, caller.collectionIds);
    const asked = { collectionId: collection_id, maxTokens: api.maxTokens, after: cursor };
    const { last, ...done } = await reindexCollection(within(api, caller), asked);
    return { ...done, next_cursor: last === null ? null : encodeCursor(last), has_more: last !== null };
  },
);

export const collectionRoutes = [create, list, show, replace, remove, put, take, reindex, addTag, tags, removeTag];
