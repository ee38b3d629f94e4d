/** API keys as the API shows them. */
import { z } from "zod";
import { type ApiKey, SCOPES } from "../../shared/access/api-keys.ts";

export const apiKeySchema = z.object({
  id: z.uuid(),
  prefix: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  rate_limit_rpm: z.int(),
  /** The collections that it is limited to; null: it is not. */
  collections: z.array(z.uuid()).nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  is_active: z.boolean(),
});

export function apiKeyJson(key: ApiKey): z.input<typeof apiKeySchema> {
  return {
    id: key.id,
    prefix: key.prefix,
    name: key.name,
    scopes: key.scopes,
    rate_limit_rpm: key.rateLimitRpm,
    collections: key.collectionIds,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    is_active: key.isActive,
  };
}
