/**
 * Has proxy servers tried by a function that has internet. The queue carries no password: the server waits in the state
 * table.
 */
import { z } from "zod";
import { readProxyConfig } from "../../shared/crawl/administration/proxy-configs.ts";
import { uuidv7 } from "../../shared/platform/ids.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { checkedUrl } from "../adapters/crawling/checked-url.ts";
import type { ProxiesApi } from "./dependencies.ts";
import { requireAllowed, serverSchema } from "./proxy-json.ts";

/** Below API Gateway's 29 s. */
const LONGEST_WAIT_MS = 25_000;
/** For one server; they are tried at once. */
const TRIAL_MS = 15_000;

const probeResultSchema = z.object({
  server: z.string(),
  success: z.boolean(),
  /** Of the site's answer; null where none came. */
  status: z.int().nullable(),
  latency_ms: z.number(),
  error_code: z.string().nullable(),
  error: z.string().nullable(),
});

export const test = defineRoute(
  {
    method: "POST",
    path: "/api/v1/proxies/test",
    scope: "admin",
    errors: { 504: ["REMOTE_TIMEOUT"] },
    summary: "Try the servers of a proxy config, or one server, with a request through each",
    body: z
      .strictObject({
        proxy_id: z.uuid().optional(),
        server: serverSchema.optional(),
        /** PROXY__TEST_URL where not given. */
        url: z.string().min(1).optional(),
      })
      .refine(({ proxy_id, server }) => (proxy_id === undefined) !== (server === undefined), {
        path: ["proxy_id"],
        message: "give either proxy_id or server",
      })
      .meta({ oneOf: [{ required: ["proxy_id"] }, { required: ["server"] }] }),
    response: z.object({
      /** Every server let the request through. */
      success: z.boolean(),
      url: z.string(),
      results: z.array(probeResultSchema),
    }),
  },
  async ({ body }, { sql, config, inspector, proxies, remote }: ProxiesApi) => {
    const url = checkedUrl(inspector, body.url ?? config.proxyTestUrl, "url");
    if (body.server !== undefined) requireAllowed(inspector, [body.server], () => "server.url");
    else if (body.proxy_id !== undefined) await readProxyConfig(sql, body.proxy_id);
    const draft = body.server === undefined ? undefined : uuidv7();
    if (draft !== undefined && body.server !== undefined) {
      const { url: address, username, password } = body.server;
      const server = { url: address, ...(username && { username }), ...(password && { password }) };
      await proxies.share(draft, { servers: [server], rotation: "random", active: true }, LONGEST_WAIT_MS / 1000);
    }
    try {
      const request = { proxyId: draft ?? body.proxy_id, url, timeoutMs: TRIAL_MS };
      const results = z.array(probeResultSchema).parse(await remote.ask("proxy-test", request, LONGEST_WAIT_MS));
      return { success: results.every(({ success }) => success), url, results };
    } finally {
      if (draft !== undefined) await proxies.forget(draft);
    }
  },
);
