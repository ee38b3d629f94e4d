/** The seeds of a spider crawl, judged by the URL guard. */
import { z } from "zod";
import { inspectUrl, type UrlInspector } from "../../../shared/access/url-inspection.ts";
import { ApiError } from "../../../shared/platform/errors.ts";
import { hostOf } from "./checked-url.ts";

export const refusedSeedSchema = z.object({
  /** Where it stands in the request, e.g. `seed_urls[3]`; the URL itself may hold a password. */
  path: z.string(),
  host: z.string().optional(),
  code: z.enum(["URL_BLOCKED", "URL_INVALID"]),
  message: z.string(),
});
export type RefusedSeed = z.infer<typeof refusedSeedSchema>;

export interface CheckedSeeds {
  accepted: string[];
  /** The crawl goes on without them. */
  refused: RefusedSeed[];
}

/**
 * @param field of the request, for the paths of what is refused
 * @throws ApiError 403 URL_BLOCKED where all are blocked, 400 URL_INVALID where none is left otherwise; each with its reason
 */
export function checkSeeds(inspector: UrlInspector, seeds: readonly string[], field = "seed_urls"): CheckedSeeds {
  const accepted: string[] = [];
  const refused: RefusedSeed[] = [];
  for (const [index, seed] of seeds.entries()) {
    const checked = inspectUrl(inspector, seed);
    if (checked instanceof URL) accepted.push(checked.href);
    else {
      const host = hostOf(seed);
      const path = `${field}[${index}]`;
      refused.push({ path, ...(host !== undefined && { host }), code: checked.code, message: checked.message });
    }
  }
  if (accepted.length === 0) throw noneLeft(refused);
  return { accepted, refused };
}

function noneLeft(refused: readonly RefusedSeed[]): ApiError {
  const blocked = refused.every(({ code }) => code === "URL_BLOCKED");
  const first = `${refused[0]?.path}: ${refused[0]?.message}`;
  const message = refused.length === 1 ? first : `None of the ${refused.length} seeds is fetched; ${first}`;
  return new ApiError(blocked ? 403 : 400, message, {
    code: blocked ? "URL_BLOCKED" : "URL_INVALID",
    details: { refused_seeds: refused },
  });
}
