/** The route that gives the pages of a site as llms.txt and llms-full.txt. */
import { z } from "zod";
import { llmsPart } from "../../shared/library/transfer/llms-text.ts";
import { encodeCursor } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DocumentsApi } from "./dependencies.ts";
import { flag } from "./documents-json.ts";

const POSITION = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}) ([^\s\0]+)$/;

export const llms = defineRoute(
  {
    method: "GET",
    path: "/api/v1/documents/llms",
    scope: "read",
    summary: "The pages of a host as llms.txt, or with their texts as llms-full.txt, a part at a time",
    query: z.strictObject({
      /** With its port where it has one. */
      domain: z.string().min(1).max(255).toLowerCase(),
      collection_id: z.uuid().optional(),
      /** Whether the texts come along. */
      full: flag,
      limit: numberParameter(z.int().min(1).max(1_000).default(500)),
      cursor: z
        .string()
        .min(1)
        // base64url of an id and a URL
        .max(12_000)
        .transform((text, context) => {
          const [, id = "", url = ""] = POSITION.exec(Buffer.from(text, "base64url").toString()) ?? [];
          if (url === "") context.addIssue("not a cursor of this list");
          return { id, url };
        })
        .optional(),
    }),
    response: z.object({
      /** Markdown; parts that are put together are one file. */
      text: z.string(),
      pages: z.int(),
      next_cursor: z.string().nullable(),
      has_more: z.boolean(),
    }),
  },
  async ({ query: { domain, collection_id, full, limit, cursor } }, { sql }: DocumentsApi) => {
    const { text, pages, next } = await llmsPart(sql, {
      ...{ domain, collectionId: collection_id ?? null, isFull: full, limit, after: cursor },
    });
    return { text, pages, next_cursor: next && encodeCursor(`${next.id} ${next.url}`), has_more: next !== null };
  },
);
