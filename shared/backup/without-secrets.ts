/** What acts with a secret rests where the secret did not come along, until it is set again. */
import { HIDDEN } from "../crawl/settings/secrets.ts";
import type { Transaction } from "../platform/database/database.ts";
import type { RowsWithoutSecrets } from "./secrets.ts";

export async function withoutTheirSecrets(tx: Transaction, left: RowsWithoutSecrets): Promise<void> {
  const idsOf = (...places: string[]): string[] => [
    ...new Set(places.flatMap((place) => [...(left.get(place) ?? [])])),
  ];
  const hooks = idsOf("webhooks.secrets", "webhooks.headers");
  if (hooks.length > 0) {
    await tx`
      update webhooks set is_active = false, stopped_reason = 'Restored without its secret or headers: set them again',
        secrets = case when secrets::text like ${`%${HIDDEN}%`} then '[]' else secrets end,
        headers = case when headers::text like ${`%${HIDDEN}%`} then '{}' else headers end
      where id = any(${hooks}::uuid[])`;
  }
  const proxies = idsOf("proxy_configs.servers");
  if (proxies.length > 0) await tx`update proxy_configs set is_active = false where id = any(${proxies}::uuid[])`;
  const sources = idsOf("crawl_sources.options");
  if (sources.length > 0) {
    await tx`
      update crawl_sources set is_active = false, last_error = 'Restored without its secrets: set its config again'
      where id = any(${sources}::uuid[])`;
  }
  // another one is made when it is asked for
  if (left.has("signing_keys.private_key")) await tx`delete from signing_keys`;
}
