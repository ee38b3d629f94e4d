import { expect, it } from "vitest";
import { z } from "zod";
import { createApi } from "../../../../../functions/adapters/api/api.ts";
import { defineRoute } from "../../../../../functions/adapters/api/route.ts";
import { createLogger } from "../../../../../shared/platform/observability/log.ts";
import { callApi } from "../../../../services/api.ts";

const api = createApi(
  "echo-api",
  [
    defineRoute(
      {
        method: "POST",
        path: "/api/v1/echo",
        scope: "public",
        summary: "Says what it was given",
        body: z.strictObject({ least: z.int().default(1), tags: z.array(z.string()).default([]) }),
        response: z.unknown(),
      },
      async ({ body }) => body,
    ),
  ],
  () => ({
    gate: { admit: () => Promise.reject(new Error("no key is asked for")), stillAdmits: async () => false },
    log: createLogger({}, "error", () => undefined),
  }),
);

it.each([
  ["no body", {}],
  ["no body that is declared as JSON", { headers: { "content-type": "application/json" } }],
  ["no body that is declared as text", { headers: { "content-type": "text/plain" } }],
  ["an empty object", { json: {} }],
])("%s has the defaults of the route", async (_what, request) => {
  const answer = await callApi(api, { path: "/api/v1/echo", method: "POST", ...request });
  expect(answer).toMatchObject({ status: 200, body: { least: 1, tags: [] } });
});
