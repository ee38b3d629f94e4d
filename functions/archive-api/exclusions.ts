/** The routes by which an operator keeps captures from the archive's readers, and shows them again. */
import { z } from "zod";
import { keyRanges, MATCH_TYPES } from "../../shared/archive/cdx/cdx-query.ts";
import {
  countMatched,
  createExclusion,
  type Exclusion,
  listExclusions,
  revokeExclusion,
} from "../../shared/archive/exclusions/exclusions.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { ArchiveApi } from "./dependencies.ts";

const exclusionSchema = z.object({
  id: z.uuid(),
  url: z.string(),
  matchType: z.enum([...MATCH_TYPES, "all"]),
  embargoDays: z.int().nullable(),
  reason: z.string().nullable(),
  createdAt: z.iso.datetime(),
});

const exclusionJson = ({ createdAt, ...exclusion }: Exclusion): z.infer<typeof exclusionSchema> => ({
  ...exclusion,
  createdAt: createdAt.toISOString(),
});

const madeSchema = exclusionSchema.extend({
  /** What is withheld by it now; those that are captured later are as well. */
  matchedCaptures: z.int(),
  /** There are more than that. */
  matchedMore: z.boolean(),
});

/** Keys are ASCII, and this stands behind them all. */
const ALL = { from: "", to: "\u007f" };

const newExclusionSchema = z
  .strictObject({
    url: z.string().trim().min(1).max(8_192),
    matchType: z.enum(MATCH_TYPES).optional(),
    embargoDays: z.int().min(1).max(36_500).optional(),
    reason: z.string().max(1_000).optional(),
  })
  .transform(({ url, matchType, embargoDays = null, reason = null }, context) => {
    const made = { url, embargoDays, reason };
    if (url === "*" && matchType === undefined) return { ...made, matchType: "all" as const, ranges: [ALL] };
    const fault = patternFault(url, matchType);
    if (fault !== undefined) {
      context.addIssue({ code: "custom", path: ["url"], message: fault });
      return z.NEVER;
    }
    try {
      const spelled = spelledType(url);
      return { ...made, matchType: matchType ?? spelled, ranges: keyRanges(url, matchType) };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      context.addIssue({ code: "custom", path: ["url"], message: error.message });
      return z.NEVER;
    }
  });

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

/** Why a pattern would withhold nothing, or something else than it says; undefined: it would not. */
function patternFault(url: string, matchType: string | undefined): string | undefined {
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") return "is no http(s) URL";
  const rest = url.replace(SCHEME, "");
  if (/^[/?#]/.test(rest) || rest === "") return "has no host: as in https://example.org/a/* or *.example.org";
  if (matchType === "exact") return undefined;
  if (matchType !== undefined) {
    return rest.includes("*") ? `holds a *, which stands for nothing beside matchType ${matchType}` : undefined;
  }
  const [, domain, path] = /^(\*\.)?(.*?)\/?\*?$/s.exec(rest) ?? [];
  if (path?.includes("*")) {
    const places = "at the end (https://example.org/a/*) or before a domain (*.example.org)";
    return `has a * where none is read: it stands ${places}; as a character, with matchType exact`;
  }
  if (domain !== undefined && path?.includes("/")) return "is a domain with a path: *.example.org withholds all of it";
  return undefined;
}

/** As the index reads it where no `matchType` is given. */
function spelledType(url: string): (typeof MATCH_TYPES)[number] {
  if (/^(?:[a-z][a-z0-9+.-]*:\/\/)?\*\./i.test(url)) return "domain";
  return url.endsWith("*") ? "prefix" : "exact";
}

const list = defineRoute(
  {
    method: "GET",
    path: "/api/admin/exclusions",
    scope: "admin",
    summary: "What the archive's readers are not shown, newest first",
    query: z.strictObject({
      limit: numberParameter(z.int().min(1).max(1000).default(100)),
      cursor: cursorParameter(z.uuid()),
    }),
    response: z.object({ items: z.array(exclusionSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { limit, cursor } }, { sql }: ArchiveApi) => {
    const found = await listExclusions(sql, { limit: limit + 1, after: cursor });
    return cursorPage(found.map(exclusionJson), limit, ({ id }) => id);
  },
);

const create = defineRoute(
  {
    method: "POST",
    path: "/api/admin/exclusions",
    scope: "admin",
    summary: "Keep captures of URLs from the archive's readers at once, or those that are younger than so many days",
    body: newExclusionSchema,
    status: 201,
    response: madeSchema,
  },
  async ({ body: { ranges, ...exclusion }, caller, log }, { sql }: ArchiveApi) => {
    const made = await createExclusion(sql, exclusion, ranges, caller.keyId);
    log.info("captures are withheld from readers", { exclusion_id: made.id, by: caller.keyId });
    const { captures, isMore } = await countMatched(sql, ranges, exclusion.embargoDays);
    return { ...exclusionJson(made), matchedCaptures: captures, matchedMore: isMore };
  },
);

const revoke = defineRoute(
  {
    method: "DELETE",
    path: "/api/admin/exclusions/{id}",
    scope: "admin",
    summary: "Show again what an exclusion kept from readers",
    params: z.strictObject({ id: z.uuid() }),
    status: 204,
    response: z.null(),
  },
  async ({ params: { id }, caller, log }, { sql }: ArchiveApi) => {
    if (!(await revokeExclusion(sql, id))) {
      throw new ApiError(404, `There is no exclusion ${id}`, { code: "NOT_FOUND" });
    }
    log.info("captures are shown to readers again", { exclusion_id: id, by: caller.keyId });
    return null;
  },
);

export const exclusionRoutes = [list, create, revoke];
