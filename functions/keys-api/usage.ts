/** The route that tells what an API key has used, and what it may still use. */
import { z } from "zod";
import { type ApiKey, readApiKey } from "../../shared/access/api-keys.ts";
import { readUsage, type UsedDay } from "../../shared/access/usage.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import type { ApiContainer } from "../adapters/api/container.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { dayParameter } from "../adapters/api/times.ts";

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;
const ALL_KEYS = "all";

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

interface Span {
  from: string;
  to: string;
}
const spanOf = ({ from, to = dayOf(Date.now()) }: { [Day in keyof Span]?: Span[Day] | undefined }): Span => ({
  from: from ?? dayOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS),
  to,
});
/** In days, the first and the last included. */
const lengthOf = ({ from, to }: Span): number => (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

const querySchema = z
  .strictObject({
    key_id: z
      .union([z.uuid().toLowerCase(), z.literal(ALL_KEYS)])
      .optional()
      .meta({ description: "Another key than the one that asks, or `all` together: with the scope admin alone" }),
    from: dayParameter.optional().meta({ description: `The first day, of UTC; ${DEFAULT_DAYS} in all where left out` }),
    to: dayParameter.optional().meta({ description: "The last day; today where left out" }),
  })
  .refine((query) => lengthOf(spanOf(query)) > 0, { path: ["from"], message: "is later than to" })
  .refine((query) => lengthOf(spanOf(query)) <= MOST_DAYS, {
    path: ["from"],
    message: `is ${MOST_DAYS} days or more before to: ask for fewer`,
  });

const counts = { jobs: z.int(), pages: z.int(), fetched_bytes: z.int(), documents: z.int() };

export const usage = defineRoute(
  {
    method: "GET",
    path: "/api/v1/usage",
    scope: "read",
    limited: true,
    summary: "What an API key has used, day by day, and what its quotas leave of it",
    query: querySchema,
    response: z.object({
      /** null: all keys together. */
      key_id: z.uuid().nullable(),
      from: z.iso.date(),
      to: z.iso.date(),
      /** Of all these days. */
      totals: z.object(counts),
      /** Bytes that are stored now. */
      stored_bytes: z.int(),
      /** null of all keys together; each null: any number. */
      limits: z
        .object({
          rate_limit_rpm: z.int(),
          jobs_per_day: z.int().nullable(),
          pages_per_day: z.int().nullable(),
          max_stored_bytes: z.int().nullable(),
        })
        .nullable(),
      /** Of today, which ends at `resets_at`; null as `limits`. */
      left: z
        .object({
          jobs: z.int().nullable(),
          pages: z.int().nullable(),
          stored_bytes: z.int().nullable(),
          resets_at: z.iso.datetime(),
        })
        .nullable(),
      /** Oldest first; `stored_bytes` at the end of each. */
      days: z.array(z.object({ date: z.iso.date(), ...counts, stored_bytes: z.int() })),
    }),
  },
  async ({ query, caller }, { sql }: ApiContainer) => {
    const id = query.key_id ?? caller.keyId;
    const { from, to } = spanOf(query);
    if (id !== caller.keyId && !caller.scopes.includes("admin")) {
      const message = "Another key's usage is shown to keys with the scope admin: leave key_id out for your own";
      throw new ApiError(403, message, { code: "FORBIDDEN", details: { required_scope: "admin" } });
    }
    const key = id === ALL_KEYS ? undefined : await readApiKey(sql, id);
    const days = await readUsage(sql, key?.id, { from, to });
    const sum = (of: (day: UsedDay) => number) => days.reduce((total, day) => total + of(day), 0);
    const today = dayOf(Date.now());
    const now = days.at(-1)?.date === today ? days : await readUsage(sql, key?.id, { from: today, to: today });
    return {
      key_id: key?.id ?? null,
      ...{ from, to },
      totals: {
        jobs: sum((day) => day.jobs),
        pages: sum((day) => day.pages),
        fetched_bytes: sum((day) => day.fetchedBytes),
        documents: sum((day) => day.documents),
      },
      stored_bytes: now.at(-1)?.storedBytes ?? 0,
      limits: key === undefined ? null : limitsOf(key),
      left: key === undefined ? null : leftOf(key),
      days: days.map(({ date, jobs, pages, fetchedBytes, documents, storedBytes }) => ({
        ...{ date, jobs, pages, documents },
        fetched_bytes: fetchedBytes,
        stored_bytes: storedBytes,
      })),
    };
  },
);

const limitsOf = ({ rateLimitRpm, jobsPerDay, pagesPerDay, maxStoredBytes }: ApiKey) => ({
  rate_limit_rpm: rateLimitRpm,
  jobs_per_day: jobsPerDay,
  pages_per_day: pagesPerDay,
  max_stored_bytes: maxStoredBytes,
});

const leftOf = (key: ApiKey) => ({
  jobs: rest(key.jobsPerDay, key.jobsToday),
  pages: rest(key.pagesPerDay, key.pagesToday),
  stored_bytes: rest(key.maxStoredBytes, key.storedBytes),
  resets_at: new Date((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS).toISOString(),
});

const rest = (limit: number | null, used: number): number | null => (limit === null ? null : Math.max(0, limit - used));
