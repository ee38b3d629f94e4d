/** The routes that tell how the archive is used: for everybody, and for Prometheus. */
import { z } from "zod";
import { archiveMetrics } from "../../shared/archive/editions/archive-metrics.ts";
import { dailyUses, PUBLIC_USES, type PublicUse } from "../../shared/archive/usage/usage.ts";
import { CONTENT_TYPE, expositionText } from "../../shared/platform/observability/exposition.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { defineStreamRoute, onePiece, StreamedResponse } from "../adapters/api/stream-route.ts";
import { UNCHANGED } from "../adapters/archive/public-reading.ts";
import { type EditionsApi, editionsApi } from "./dependencies.ts";
import { statistics } from "./sources.ts";

const WINDOW_DAYS = 30;
const counts = Object.fromEntries(PUBLIC_USES.map((what) => [what, z.int()])) as Record<PublicUse, z.ZodInt>;

export const usage = defineRoute(
  {
    method: "GET",
    path: "/api/usage",
    scope: "read",
    open: () => editionsApi().config.archivePublic,
    otherwise: UNCHANGED,
    summary: `How often the archive was asked, in the last ${WINDOW_DAYS} days and on each of them`,
    response: z.object({
      enabled: z.boolean(),
      windowDays: z.int(),
      totals: z.object(counts),
      daily: z.array(z.object({ date: z.iso.date(), ...counts })),
    }),
  },
  async (_, { sql, config }: EditionsApi) => {
    const enabled = config.archiveUsage;
    const days = enabled ? await dailyUses(sql, WINDOW_DAYS, new Date()) : [];
    const total = (what: PublicUse) => days.reduce((sum, { uses }) => sum + uses[what], 0);
    return {
      enabled,
      windowDays: WINDOW_DAYS,
      totals: Object.fromEntries(PUBLIC_USES.map((what) => [what, total(what)])) as Record<PublicUse, number>,
      daily: days.map(({ date, uses }) => ({ date, ...uses })),
    };
  },
);

export const metrics = defineStreamRoute(
  {
    method: "GET",
    path: "/metrics",
    scope: "admin",
    summary: "What the archive holds and does, for Prometheus",
    response: z.never(),
    streams: { "text/plain": z.string() },
  },
  async (_, { sql, config }: EditionsApi) => {
    const also = config.metricsAlsoAs === "" ? [] : [config.metricsAlsoAs];
    const families = await archiveMetrics(sql, await statistics(sql), ["strandline", ...also]);
    return new StreamedResponse({ contentType: CONTENT_TYPE, chunks: onePiece(expositionText(families)) });
  },
);
