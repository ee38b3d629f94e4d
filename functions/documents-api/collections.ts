/** The routes of collections and tags. */
import { z } from "zod";
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
import { orNull } from "../adapters/api/or-null.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { type DocumentsApi, within } from "./dependencies.ts";
import { changedSchema, changeEach, documentIds, flag, pageOf, tagName } from "./documents-json.ts";

const collectionSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  /** That can be found. */
  documents: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

const collectionJson = ({ created_at, updated_at, ...rest }: Collection): z.output<typeof collectionSchema> => ({
  ...rest,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

const collectionBody = z.strictObject({
  /** Unique. */
  name: z.string().trim().min(1).max(100),
  description: orNull(z.string().max(2_000)),
});
const params = z.strictObject({ collection_id: z.uuid() });
const paging = { limit: z.coerce.number().int().min(1).max(200).default(50), cursor: cursorParameter(z.uuid()) };

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
  async ({ body: { name, description } }, { sql }: DocumentsApi) =>
    collectionJson(await createCollection(sql, { name, description: description ?? null })),
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
    summary: "Rename or describe a collection; its documents stay",
    params,
    body: collectionBody,
    response: collectionSchema,
  },
  async ({ params: { collection_id }, body: { name, description } }, { sql }: DocumentsApi) =>
    collectionJson(await replaceCollection(sql, collection_id, { name, description: description ?? null })),
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
    summary: "Make the vectors of a collection anew, 200 documents a request; the old ones answer meanwhile",
    params,
    query: z.strictObject({ cursor: cursorParameter(z.uuid()) }),
    status: 202,
    response: z.object({ documents: z.int(), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ params: { collection_id }, query: { cursor }, caller }, api: DocumentsApi) => {
    await readCollection(api.sql, collection_id, caller.collectionIds);
    const { documents, last } = await reindexCollection(within(api, caller), collection_id, cursor);
    return { documents, next_cursor: last === null ? null : encodeCursor(last), has_more: last !== null };
  },
);

export const collectionRoutes = [create, list, show, replace, remove, put, take, reindex, addTag, tags, removeTag];
