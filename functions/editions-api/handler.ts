/** Serves what tells of sources and their editions, what makes them, and what visitors tell of them. */
import type { MiddlewareHandler } from "hono";
import { headOf } from "../adapters/api/route.ts";
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { publicReading, READING_HEADERS } from "../adapters/archive/public-reading.ts";
import { editionsApi } from "./dependencies.ts";
import { jobRoutes } from "./jobs.ts";
import { preview } from "./previews.ts";
import { reportRoutes } from "./reports.ts";
import { editions, list, registered, seed, show } from "./sources.ts";
import { metrics, usage } from "./usage.ts";

const publicRoutes = [list, show, editions, preview, usage];

const reading = publicReading(() => editionsApi().config);

/** What administrators are told is kept by no cache, and read by no page of another origin. */
const around: MiddlewareHandler = async (c, next) => {
  if (!c.req.path.startsWith("/api/admin/") && c.req.path !== "/metrics") return (await reading(c, next)) as never;
  await next();
  c.res.headers.set("cache-control", "no-store");
};

export const api = createStreamApi(
  "editions-api",
  [...publicRoutes, ...publicRoutes.map(headOf), registered, seed, metrics, ...jobRoutes, ...reportRoutes],
  editionsApi,
  { around, headers: READING_HEADERS, errors: "archive" },
);
export const handler = api.handler;
