/** The routes of embedding models: which one answers, how far a change is, pausing it, and going back. */
import { z } from "zod";
import { goBackToModel, listModels, pauseChange, type StoredModel } from "../../shared/library/embedding-models.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DocumentsApi } from "./dependencies.ts";

const modelName = { model: z.string().min(1).max(500), dimension: z.int().min(1).max(100_000) };

const modelsSchema = z.object({
  /** The one that answers searches first. */
  items: z.array(
    z.object({
      ...modelName,
      /** `serving`: it answers; `coming`: its vectors are made; `leaving`: its vectors are kept for a day. */
      state: z.enum(["serving", "coming", "leaving"]),
      paused: z.boolean(),
      changed_at: z.iso.datetime(),
      /** That can be found and whose newest vector is the model's. */
      chunks: z.int(),
      /** That can be found and wait for a vector of it. */
      waiting: z.int(),
    }),
  ),
});

const modelsJson = (models: readonly StoredModel[]): z.output<typeof modelsSchema> => ({
  items: models.map((each) => ({ ...each, changed_at: each.changed_at.toISOString() })),
});

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/embedding-models",
    scope: "read",
    summary: "The models whose vectors are stored, and how far a change to another one is",
    response: modelsSchema,
  },
  async (_, { sql, descriptor }: DocumentsApi) => modelsJson(await listModels(sql, descriptor)),
);

const change = defineRoute(
  {
    method: "POST",
    path: "/api/v1/embedding-models",
    scope: "admin",
    summary: "Pause a change of the embedding model, let it go on, or have a model answer again whose vectors are kept",
    body: z
      .strictObject({ paused: z.boolean().optional(), serving: z.strictObject(modelName).optional() })
      .refine(({ paused, serving }) => (paused === undefined) !== (serving === undefined), {
        path: ["paused"],
        message: "give either paused or serving",
      })
      .meta({ oneOf: [{ required: ["paused"] }, { required: ["serving"] }] }),
    response: modelsSchema,
  },
  async ({ body: { paused, serving } }, { sql, descriptor, flags }: DocumentsApi) => {
    // the sweep goes on with a change
    await flags.markActive();
    if (serving !== undefined) await goBackToModel(sql, serving);
    if (paused !== undefined) await pauseChange(sql, paused);
    return modelsJson(await listModels(sql, descriptor));
  },
);

export const modelRoutes = [list, change];
