/** The route that compares the vector store with the rows, and repairs both. */
import { z } from "zod";
import { compareStore } from "../../shared/knowledge/embedding/store-comparison.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { cursorParameter, encodeCursor } from "../adapters/api/cursor.ts";
import { orNull } from "../adapters/api/or-null.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DocumentsApi } from "./dependencies.ts";

/** Of a request, in ms; its last stretch of ids comes on top. */
const WORK_MS = 12_000;

export const reconcile = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/reconcile",
    scope: "admin",
    summary: "Compare the vector store with the rows: points without a chunk go, lost and stale ones are made again",
    body: z.strictObject({
      /** `next_cursor` of the answer before. */
      cursor: orNull(cursorParameter(z.uuid())),
      /** Tells what differs, and changes nothing. */
      dry_run: z.boolean().default(false),
    }),
    response: z.object({
      /** Of chunks that are gone; removed unless this was a dry run. */
      orphaned_points: z.int(),
      /** Chunks whose vectors were lost; asked for again unless this was a dry run. */
      lost_chunks: z.int(),
      /** Chunks whose vectors carry another collection, host, language or other tags; asked for again likewise. */
      stale_chunks: z.int(),
      /** Of all jobs, those that wait for a vector now. */
      waiting_chunks: z.int(),
      next_cursor: z.string().nullable(),
      has_more: z.boolean(),
    }),
  },
  async ({ body: { cursor = null, dry_run }, caller, log }, { sql, queues, flags, ...api }: DocumentsApi) => {
    const [vectors, { descriptor }] = [await api.vectors(), api];
    if (vectors === null || descriptor === null) {
      const message = "Embeddings are switched off (EMBEDDER__PROVIDER): there are no vectors to compare";
      throw new ApiError(400, message, { code: "EMBEDDER_NOT_CONFIGURED" });
    }
    const until = performance.now() + WORK_MS;
    // the sweep sees to what cannot be sent now
    if (!dry_run) await flags.markActive();
    const { removedPoints, lostChunks, staleChunks, next } = await compareStore(
      ...([sql, vectors, descriptor, cursor, () => performance.now() < until] as const),
      { repairs: !dry_run, send: { queues, log } },
    );
    const found = { removed_points: removedPoints, lost_chunks: lostChunks, stale_chunks: staleChunks };
    log.info("vectors compared", { ...found, dry_run, by: caller.keyId });
    const [waiting] = await sql<{ chunks: number }[]>`
      select coalesce(sum(unembedded_chunks), 0)::int as chunks from jobs
      where unembedded_chunks > 0 and status in ('embedding', 'completed')`;
    return {
      ...{ orphaned_points: removedPoints, lost_chunks: lostChunks, stale_chunks: staleChunks },
      waiting_chunks: waiting?.chunks ?? 0,
      next_cursor: next === null ? null : encodeCursor(next),
      has_more: next !== null,
    };
  },
);
