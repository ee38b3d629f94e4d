/** The routes of generations: the history of a site, going back, and what changed. */
import { z } from "zod";
import { compareGenerations } from "../../shared/library/generation-diff.ts";
import { activateAgain, type Generation, listGenerations, readGeneration } from "../../shared/library/generations.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DocumentsApi } from "./dependencies.ts";
import { flag, pageOf } from "./documents-json.ts";

const generationSchema = z.object({
  id: z.uuid(),
  job_id: z.uuid(),
  collection_id: z.uuid().nullable(),
  /** With port. */
  hosts: z.array(z.string()),
  /** Whether it replaced all crawled pages of its hosts, or only those of its URLs. */
  is_whole: z.boolean(),
  /** `active`: visible, at least in part; `kept`: it can be activated; `cleaned`: it cannot. */
  state: z.enum(["active", "kept", "cleaned"]),
  visible_documents: z.int(),
  /** Visible or not. */
  documents: z.int(),
  first_activated_at: z.iso.datetime(),
  activated_at: z.iso.datetime(),
});

const generationJson = (each: Generation): z.output<typeof generationSchema> => ({
  ...each,
  first_activated_at: each.first_activated_at.toISOString(),
  activated_at: each.activated_at.toISOString(),
});

const params = z.strictObject({ generation_id: z.uuid() });

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/generations",
    scope: "read",
    summary: "The generations that crawls have made visible, newest first",
    query: z.strictObject({
      /** With port, unless it is the scheme's own. */
      host: z.string().trim().toLowerCase().min(1).max(260).optional(),
      collection_id: z.uuid().optional(),
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: pageOf(generationSchema),
  },
  async ({ query: { limit, cursor, ...filter } }, { sql }: DocumentsApi) => {
    const found = await listGenerations(sql, filter, { limit: limit + 1, after: cursor });
    return cursorPage(found.map(generationJson), limit, ({ id }) => id);
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/generations/{generation_id}",
    scope: "read",
    summary: "A generation",
    params,
    response: generationSchema,
  },
  async ({ params: { generation_id } }, { sql }: DocumentsApi) =>
    generationJson(await readGeneration(sql, generation_id)),
);

const activate = defineRoute(
  {
    method: "POST",
    path: "/api/v1/generations/{generation_id}/activate",
    scope: "write",
    summary: "Show a generation again that was replaced and is kept; readers see all of the one or all of the other",
    params,
    response: generationSchema,
  },
  async ({ params: { generation_id } }, api: DocumentsApi) => generationJson(await activateAgain(api, generation_id)),
);

const lineSchema = z.tuple([z.enum(["=", "+", "-", ">"]), z.string()]);

const pageSchema = z.object({
  url: z.string(),
  title: z.string().nullable(),
  change: z.enum(["added", "removed", "changed"]),
  from_document: z.uuid().nullable(),
  to_document: z.uuid().nullable(),
  /** Of a changed page; null where none was asked for, or its texts are too long. */
  difference: z
    .object({
      added_lines: z.int(),
      removed_lines: z.int(),
      /** 0 to 1. */
      change_ratio: z.number(),
      /** `=` in both, `+` added, `-` removed, `>` moved. */
      hunks: z.array(z.object({ from: z.int(), to: z.int(), lines: z.array(lineSchema) })),
      is_cut: z.boolean(),
    })
    .nullable(),
});

const diff = defineRoute(
  {
    method: "GET",
    path: "/api/v1/generations/{generation_id}/diff/{other_id}",
    scope: "read",
    summary: "Pages that the second generation has added, removed and changed, with their lines",
    params: z.strictObject({ generation_id: z.uuid(), other_id: z.uuid() }),
    query: z.strictObject({
      /** Whether changed pages come with their lines. */
      text: flag,
      limit: numberParameter(z.int().min(1).max(100).default(50)),
      cursor: cursorParameter(z.string().regex(/^[0-9a-f]{64}$/)),
    }),
    response: pageOf(pageSchema),
  },
  async ({ params: { generation_id, other_id }, query: { text, limit, cursor } }, { sql }: DocumentsApi) => {
    const options = { limit, after: cursor, withText: text };
    const found = await compareGenerations(sql, [generation_id, other_id], options);
    const page = cursorPage(found, limit, ({ url_hash }) => url_hash);
    const items = page.items.map(({ url_hash: _hash, difference = null, ...each }) => {
      if (difference === null) return { ...each, difference };
      const { addedLines: added_lines, removedLines: removed_lines, changeRatio: change_ratio, isCut } = difference;
      const hunks = difference.hunks.map(({ from, to, lines }) => ({
        ...{ from, to },
        lines: lines.map(([mark, line]): z.output<typeof lineSchema> => [mark, line]),
      }));
      return { ...each, difference: { added_lines, removed_lines, change_ratio, hunks, is_cut: isCut } };
    });
    return { ...page, items };
  },
);

export const generationRoutes = [list, show, activate, diff];
