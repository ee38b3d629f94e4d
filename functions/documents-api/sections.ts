/** The routes of the sections of a document. */
import { z } from "zod";
import { areSectionsCut, sectionMarkdown, sectionNodes, subtree } from "../../shared/library/sections.ts";
import { readDocument } from "../../shared/library/stored-documents.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DocumentsApi } from "./dependencies.ts";
import { MOST_CHARACTERS } from "./documents-json.ts";

const sectionSchema = z.object({
  position: z.int(),
  /** Position of the one that it stands in; null at the top. */
  parent: z.int().nullable(),
  heading: z.string().nullable(),
  /** 0 for what stands before the first heading. */
  level: z.int(),
  start_char: z.int(),
  end_char: z.int(),
  children: z.int(),
});

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/documents/{document_id}/sections",
    scope: "read",
    limited: true,
    summary: "The sections of a document: a tree in the order of the text, parents before their children",
    params: z.strictObject({ document_id: z.uuid() }),
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(1_000).default(1_000)),
      cursor: cursorParameter(z.string().regex(/^\d{1,9}$/)),
    }),
    response: z.object({
      document_id: z.uuid(),
      url: z.string(),
      /** On all pages. */
      total: z.int(),
      /** Whether the document has more headings than sections are kept: the last section holds what stands behind. */
      is_cut: z.boolean(),
      sections: z.array(sectionSchema),
      next_cursor: z.string().nullable(),
      has_more: z.boolean(),
    }),
  },
  async ({ params: { document_id }, query: { limit, cursor }, caller }, { sql }: DocumentsApi) => {
    const document = await readDocument(sql, document_id, caller.collectionIds);
    const nodes = sectionNodes(document.sections);
    const from = cursor === undefined ? 0 : Number(cursor) + 1;
    const { items, ...page } = cursorPage(nodes.slice(from, from + limit + 1), limit, ({ position }) =>
      String(position),
    );
    return {
      ...{ document_id, url: document.url, total: nodes.length, is_cut: areSectionsCut(document) },
      sections: items,
      ...page,
    };
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/documents/{document_id}/sections/{position}",
    scope: "read",
    limited: true,
    summary: "A section with all that stands below it, as Markdown",
    params: z.strictObject({ document_id: z.uuid(), position: numberParameter(z.int().min(0).max(1_000_000)) }),
    response: z.object({
      document_id: z.uuid(),
      url: z.string(),
      position: z.int(),
      /** Of the last section below it. */
      last_position: z.int(),
      heading: z.string().nullable(),
      markdown: z.string(),
      /** Whether the Markdown is longer than what is shown: the chunks have all of it. */
      is_cut: z.boolean(),
    }),
  },
  async ({ params: { document_id, position }, caller }, { sql }: DocumentsApi) => {
    const document = await readDocument(sql, document_id, caller.collectionIds);
    const [, last_position] = subtree(document.sections, position);
    const markdown = sectionMarkdown(document, position);
    return {
      ...{ document_id, url: document.url, position, last_position },
      heading: document.sections[position]?.heading ?? null,
      markdown: markdown.slice(0, MOST_CHARACTERS).toWellFormed(),
      is_cut: markdown.length > MOST_CHARACTERS,
    };
  },
);

export const sectionRoutes = [list, show];
