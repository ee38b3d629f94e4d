/** The routes that say that the API lives, and whether what it depends on answers. Load balancers ask without a key. */
import { z } from "zod";
import { checkReadiness } from "../../shared/platform/observability/readiness.ts";
import { createApi } from "../adapters/api/api.ts";
import { ApiResponse, defineRoute } from "../adapters/api/route.ts";
import { type HealthApi, healthApi } from "./dependencies.ts";

const CHECK_TIMEOUT_MS = 2_000;

const live = defineRoute(
  {
    method: "GET",
    path: "/api/v1/health",
    scope: "public",
    summary: "Alive",
    response: z.object({ status: z.literal("ok") }),
  },
  async () => ({ status: "ok" as const }),
);

const ready = defineRoute(
  {
    method: "GET",
    path: "/api/v1/health/ready",
    scope: "public",
    summary: "Whether every dependency answers; 503 and what failed where one does not",
    otherwise: { 503: "What does not answer" },
    response: z.object({ status: z.enum(["ok", "unavailable"]), checks: z.record(z.string(), z.string()) }),
  },
  async ({ log }, { checks }: HealthApi) => {
    const readiness = await checkReadiness(checks, CHECK_TIMEOUT_MS, log);
    return readiness.ready
      ? { status: "ok" as const, checks: readiness.checks }
      : new ApiResponse(503, { status: "unavailable" as const, checks: readiness.checks });
  },
);

export const api = createApi("health-api", [live, ready], healthApi);
export const handler = api.handler;
