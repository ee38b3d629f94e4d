/** The routes by which WARC files of others come into the archive, and those of all of its files. */
import { z } from "zod";
import { readSource } from "../../shared/archive/editions/sources.ts";
import {
  announceImport,
  beginImport,
  listImports,
  readComplaints,
  readImport,
  sendImport,
} from "../../shared/archive/import/imports.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { createApi } from "../adapters/api/api.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { type ArchiveApi, archiveApi } from "./dependencies.ts";
import { exclusionRoutes } from "./exclusions.ts";
import {
  importJson,
  importSchema,
  importWithComplaints,
  importWithComplaintsSchema,
  newImportSchema,
  uploadSchema,
} from "./import-json.ts";
import { warcFileRoutes } from "./warc-files.ts";

const list = defineRoute(
  {
    method: "GET",
    path: "/api/admin/warcs",
    scope: "admin",
    summary: "WARC imports, newest first",
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: z.object({ items: z.array(importSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { limit, cursor } }, { sql }: ArchiveApi) => {
    const found = await listImports(sql, { limit: limit + 1, after: cursor });
    return cursorPage(found.map(importJson), limit, ({ id }) => id);
  },
);

const create = defineRoute(
  {
    method: "POST",
    path: "/api/admin/warcs",
    scope: "admin",
    summary: "Import a WARC file: an object of the bucket, or a file for which the answer says where to upload it",
    body: newImportSchema,
    status: 202,
    idempotent: true,
    response: z.union([uploadSchema, importSchema]),
  },
  async ({ body, caller, log, reservedId }, dependencies: ArchiveApi) => {
    const { sql, uploads, queues, links } = dependencies;
    if (body.source !== undefined) await readSource(sql, body.source);
    if ("filename" in body) {
      const { id, key } = await announceImport(sql, {
        ...body,
        id: reservedId("import"),
        apiKeyId: caller.keyId,
      });
      const { url, headers, expiresAt } = await links.uploadTo(key, body.sha256);
      log.info("a WARC upload was announced", { import_id: id, bytes: body.bytes, by: caller.keyId });
      const upload = { uploadUrl: url, method: "PUT" as const, headers, expiresAt: new Date(expiresAt).toISOString() };
      return { id, key, ...upload };
    }
    const object = await uploads.head(body.key);
    if (object === undefined) {
      throw new ApiError(404, `There is no object ${body.key} in the bucket`, { code: "NOT_FOUND" });
    }
    const { id, begun } = await beginImport(
      dependencies,
      { key: body.key, ...object },
      { apiKeyId: caller.keyId, source: body.source },
    );
    if (!begun) {
      await sendImport(queues, id).catch((error: unknown) => {
        log.warn("an import's message could not be sent: the sweep sends it", { error, import_id: id });
      });
    }
    log.info("a WARC import was asked for", { import_id: id, key: body.key, by: caller.keyId });
    return importJson(await existing(dependencies, id));
  },
);

const MOST_COMPLAINTS = 1000;

const show = defineRoute(
  {
    method: "GET",
    path: "/api/admin/warcs/{id}",
    scope: "admin",
    summary: "One WARC import: its state, its counts, and what was wrong with the file",
    params: z.strictObject({ id: z.uuid() }),
    response: importWithComplaintsSchema,
  },
  async ({ params: { id } }, dependencies: ArchiveApi) =>
    importWithComplaints(await existing(dependencies, id), await readComplaints(dependencies.sql, id, MOST_COMPLAINTS)),
);

async function existing({ sql }: ArchiveApi, id: string) {
  const found = await readImport(sql, id);
  if (found === undefined) throw new ApiError(404, `There is no WARC import ${id}`, { code: "NOT_FOUND" });
  return found;
}

export const api = createApi("archive-api", [list, create, show, ...warcFileRoutes, ...exclusionRoutes], archiveApi);
export const handler = api.handler;
