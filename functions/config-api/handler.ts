/** The routes that create, list, replace and delete crawl configs. */
import { z } from "zod";
import {
  type ConfigInput,
  createConfig,
  deleteConfig,
  listConfigs,
  readConfig,
  replaceConfig,
} from "../../shared/crawl/administration/crawl-configs.ts";
import { once } from "../../shared/platform/once.ts";
import { createApi } from "../adapters/api/api.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { configJson, configRequestSchema, configSchema, settingsOf } from "./config-json.ts";

const params = z.strictObject({ config_id: z.uuid() });

const create = defineRoute(
  {
    method: "POST",
    path: "/api/v1/configs",
    scope: "write",
    summary: "Store crawl settings under a name",
    body: configRequestSchema,
    status: 201,
    response: configSchema,
  },
  async ({ body, caller }, { sql, config }: ApiContainer) =>
    configJson(await createConfig(sql, inputOf(body)), caller, config),
);

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/configs",
    scope: "read",
    summary: "The crawl configs, newest first",
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(200).default(50)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: z.object({ items: z.array(configSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { limit, cursor }, caller }, { sql, config }: ApiContainer) => {
    const found = await listConfigs(sql, { limit: limit + 1, after: cursor });
    return cursorPage(
      found.map((each) => configJson(each, caller, config)),
      limit,
      ({ id }) => id,
    );
  },
);

const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/configs/{config_id}",
    scope: "read",
    summary: "A crawl config, with the defaults of what it leaves open",
    params,
    response: configSchema,
  },
  async ({ params: { config_id }, caller }, { sql, config }: ApiContainer) =>
    configJson(await readConfig(sql, config_id), caller, config),
);

const replace = defineRoute(
  {
    method: "PUT",
    path: "/api/v1/configs/{config_id}",
    scope: "write",
    summary:
      "Replace a crawl config; what is left out goes back to its default, and jobs that run keep what they began with",
    params,
    body: configRequestSchema,
    response: configSchema,
  },
  async ({ params: { config_id }, body, caller }, { sql, config }: ApiContainer) =>
    configJson(await replaceConfig(sql, config_id, inputOf(body)), caller, config),
);

const remove = defineRoute(
  {
    method: "DELETE",
    path: "/api/v1/configs/{config_id}",
    scope: "write",
    summary: "Delete a crawl config; jobs that were started with it go on",
    params,
    status: 204,
    response: z.null(),
  },
  async ({ params: { config_id } }, { sql }: ApiContainer) => {
    await deleteConfig(sql, config_id);
    return null;
  },
);

const inputOf = (body: z.output<typeof configRequestSchema>): ConfigInput => ({
  name: body.name,
  settings: settingsOf(body),
});

export const api = createApi(
  "config-api",
  [create, list, show, replace, remove],
  once(() => createApiContainer("config-api")),
);
export const handler = api.handler;
