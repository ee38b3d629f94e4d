/** Creates, lists, tells, limits and revokes API keys, and tells what they have used. */
import { z } from "zod";
import {
  createApiKey,
  limitApiKey,
  listApiKeys,
  requireCollections,
  revokeApiKey,
  SCOPES,
} from "../../shared/access/api-keys.ts";
import { once } from "../../shared/platform/once.ts";
import { createApi } from "../adapters/api/api.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { momentParameter } from "../adapters/api/times.ts";
import { apiKeyJson, apiKeySchema } from "./key-json.ts";
import { usage } from "./usage.ts";

const collectionIds = z
  .array(z.uuid().toLowerCase())
  .min(1, "names no collection: null is a key that reaches all")
  .max(100)
  .transform((ids) => [...new Set(ids)]);

const perDay = z.int().min(1).max(1_000_000_000);
const bytes = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

const newKeyFields = z.strictObject({
  name: z.string().trim().min(1).max(100),
  scopes: z
    .array(z.enum(SCOPES))
    .min(1)
    .transform((scopes) => [...new Set(scopes)])
    .default(["read"]),
  rate_limit_rpm: z.int().min(1).max(1_000_000).optional(),
  expires_at: momentParameter
    .transform((text) => new Date(text))
    .refine((expiry) => expiry.getTime() > Date.now(), "is in the past")
    .nullable()
    .default(null),
  /** The key reaches their documents, and nothing else. */
  collections: collectionIds.nullable().default(null),
  /** Jobs that it may begin in a day of UTC; null: any number. */
  jobs_per_day: perDay.nullable().default(null),
  /** Pages that its jobs may fetch in a day of UTC; null: any number. */
  pages_per_day: perDay.nullable().default(null),
  /** Bytes of captures and uploads that it may store; null: any number. */
  max_stored_bytes: bytes.nullable().default(null),
});
const newKeySchema = newKeyFields.refine(
  ({ scopes, collections }) => collections === null || !scopes.includes("admin"),
  {
    path: ["collections"],
    message: "do not go with the scope admin, which reaches everything: leave one of them out",
  },
);

const create = defineRoute(
  {
    method: "POST",
    path: "/api/v1/api-keys",
    scope: "admin",
    summary: "Create an API key; the answer is the only place that ever shows it",
    body: newKeySchema,
    status: 201,
    response: apiKeySchema.extend({ key: z.string() }),
  },
  async ({ body, caller, log }, { sql, config }: ApiContainer) => {
    if (body.collections !== null) await requireCollections(sql, body.collections);
    const { key, ...created } = await createApiKey(sql, {
      name: body.name,
      scopes: body.scopes,
      rateLimitRpm: body.rate_limit_rpm ?? config.apiRpm,
      expiresAt: body.expires_at,
      collectionIds: body.collections,
      jobsPerDay: body.jobs_per_day,
      pagesPerDay: body.pages_per_day,
      maxStoredBytes: body.max_stored_bytes,
    });
    log.info("API key created", { created_key_id: created.id, scopes: created.scopes, by: caller.keyId });
    return { ...apiKeyJson(created), key };
  },
);

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/api-keys",
    scope: "admin",
    summary: "The API keys, newest first, revoked ones included",
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: z.object({ items: z.array(apiKeySchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { limit, cursor } }, { sql }: ApiContainer) => {
    const found = await listApiKeys(sql, { limit: limit + 1, ...(cursor && { after: cursor }) });
    return cursorPage(found.map(apiKeyJson), limit, (key) => key.id);
  },
);

const readOwn = defineRoute(
  {
    method: "GET",
    path: "/api/v1/api-keys/self",
    scope: "read",
    summary: "The API key that the request presents",
    limited: true,
    response: apiKeySchema.pick({ id: true, name: true, scopes: true, collections: true }),
  },
  async ({ caller: { keyId: id, name, scopes, collectionIds } }, _: ApiContainer) => ({
    ...{ id, name, scopes: [...scopes] },
    collections: collectionIds && [...collectionIds],
  }),
);

const limit = defineRoute(
  {
    method: "PUT",
    path: "/api/v1/api-keys/{key_id}",
    scope: "admin",
    summary: "Limit an API key to collections, or to none, and set its quotas; its next request is held to it",
    params: z.strictObject({ key_id: z.uuid() }),
    body: z
      .strictObject({
        /** In place of those that it had; null: the key reaches everything that its scopes let it. */
        collections: collectionIds.nullable().optional(),
        /** null: any number. */
        jobs_per_day: perDay.nullable().optional(),
        /** null: any number. */
        pages_per_day: perDay.nullable().optional(),
        /** null: any number. */
        max_stored_bytes: bytes.nullable().optional(),
      })
      .refine((body) => Object.keys(body).length > 0, "names nothing to change: collections, or a quota")
      .meta({ minProperties: 1 }),
    response: apiKeySchema,
  },
  async ({ params, body, caller, log }, container: ApiContainer) => {
    const limited = await limitApiKey(container, params.key_id, {
      collectionIds: body.collections,
      jobsPerDay: body.jobs_per_day,
      pagesPerDay: body.pages_per_day,
      maxStoredBytes: body.max_stored_bytes,
    });
    const to = { limited_key_id: limited.id, collections: limited.collectionIds?.length ?? null };
    log.info("API key limited", { ...to, by: caller.keyId });
    return apiKeyJson(limited);
  },
);

const revoke = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/api-keys/{key_id}",
    scope: "admin",
    summary: "Revoke an API key; it stops working at once",
    params: z.strictObject({ key_id: z.uuid() }),
    status: 204,
    response: z.null(),
  },
  async ({ params, caller, log }, container: ApiContainer) => {
    await revokeApiKey(container, params.key_id);
    log.info("API key revoked", { revoked_key_id: params.key_id, by: caller.keyId });
    return null;
  },
);

export const api = createApi(
  "keys-api",
  [create, list, readOwn, limit, revoke, usage],
  once(() => createApiContainer("keys-api")),
);
export const handler = api.handler;
