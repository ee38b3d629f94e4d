/** The routes that keep proxy configs, and have their servers tried. */
import { z } from "zod";
import {
  createProxyConfig,
  deleteProxyConfig,
  listProxyConfigs,
  readProxyConfig,
  replaceProxyConfig,
} from "../../shared/crawl/administration/proxy-configs.ts";
import { createApi } from "../adapters/api/api.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { type ProxiesApi, proxiesApi } from "./dependencies.ts";
import { newProxy, newProxySchema, proxyJson, proxySchema } from "./proxy-json.ts";
import { test } from "./test-route.ts";

const params = z.strictObject({ id: z.uuid() });

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/proxies",
    scope: "read",
    summary: "Proxy configs, newest first",
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: z.object({ items: z.array(proxySchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { limit, cursor } }, { sql }: ProxiesApi) => {
    const found = await listProxyConfigs(sql, { limit: limit + 1, after: cursor });
    return cursorPage(found.map(proxyJson), limit, (proxy) => proxy.id);
  },
);

const create = defineRoute(
  {
    method: "POST",
    path: "/api/v1/proxies",
    scope: "admin",
    summary: "Create a proxy config; its passwords are never shown again",
    body: newProxySchema,
    status: 201,
    response: proxySchema,
  },
  async ({ body, caller, log }, dependencies: ProxiesApi) => {
    const created = await createProxyConfig(dependencies, newProxy(dependencies.inspector, body));
    log.info("proxy config created", { proxy_id: created.id, servers: created.servers.length, by: caller.keyId });
    return proxyJson(created);
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/proxies/{id}",
    scope: "read",
    summary: "One proxy config, without its passwords",
    params,
    response: proxySchema,
  },
  async ({ params: { id } }, { sql }: ProxiesApi) => proxyJson(await readProxyConfig(sql, id)),
);

const replace = defineRoute(
  {
    method: "PUT",
    path: "/api/v1/proxies/{id}",
    scope: "admin",
    summary: "Replace a proxy config; a server whose password is left out keeps it",
    params,
    body: newProxySchema,
    response: proxySchema,
  },
  async ({ params: { id }, body, caller, log }, dependencies: ProxiesApi) => {
    const replaced = await replaceProxyConfig(dependencies, id, newProxy(dependencies.inspector, body));
    log.info("proxy config replaced", { proxy_id: id, servers: replaced.servers.length, by: caller.keyId });
    return proxyJson(replaced);
  },
);

const remove = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/proxies/{id}",
    scope: "admin",
    summary: "Remove a proxy config; jobs that use it can make no further request",
    params,
    status: 204,
    response: z.null(),
  },
  async ({ params: { id }, caller, log }, dependencies: ProxiesApi) => {
    await deleteProxyConfig(dependencies, id);
    log.info("proxy config removed", { proxy_id: id, by: caller.keyId });
    return null;
  },
);

export const api = createApi("proxies-api", [list, create, show, replace, remove, test], proxiesApi);
export const handler = api.handler;
