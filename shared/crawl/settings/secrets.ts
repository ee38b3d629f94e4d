/** What of the settings of a crawl is told to nobody who could not use it anyway. */
import type { CrawlConfig } from "./crawl-config.ts";

/** What stands for the value that a caller may not see. */
export const HIDDEN = "[hidden]";
/** Headers that say who asks, or prove it. */
export const CREDENTIAL = /auth|cookie|token|secret|passw|key|session|signature/i;

/** The settings with their credentials, cookies and typed texts hidden. */
export function withoutSecrets(config: CrawlConfig): CrawlConfig {
  const headers = Object.entries(config.headers).map(([name, value]) => [name, CREDENTIAL.test(name) ? HIDDEN : value]);
  return {
    ...config,
    headers: Object.fromEntries(headers),
    cookies: config.cookies.map((cookie) => ({ ...cookie, value: HIDDEN })),
    actions: config.actions.map((action) => (action.type === "type" ? { ...action, text: HIDDEN } : action)),
  };
}
