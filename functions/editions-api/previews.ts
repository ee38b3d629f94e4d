/** The route that shows pictures of entry pages. */
import { z } from "zod";
import { readPreview } from "../../shared/archive/editions/previews.ts";
import { SOURCE_LANGUAGES } from "../../shared/archive/editions/source.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { ApiResponse } from "../adapters/api/route.ts";
import { defineStreamRoute, StreamedResponse } from "../adapters/api/stream-route.ts";
import { cacheFor, holdsTag, UNCHANGED } from "../adapters/archive/public-reading.ts";
import { type EditionsApi, editionsApi } from "./dependencies.ts";
import { codeParams } from "./sources.ts";

/** Seconds for which a picture is kept by those who have it. */
const A_DAY_S = 86_400;

export const preview = defineStreamRoute(
  {
    method: "GET",
    path: "/api/sources/{code}/preview",
    scope: "read",
    open: () => editionsApi().config.archivePublic,
    otherwise: UNCHANGED,
    summary: "A picture of the entry page of an edition of the source, of the newest one where no job is named",
    params: codeParams,
    query: z.strictObject({
      jobId: numberParameter(z.int().positive().max(Number.MAX_SAFE_INTEGER).optional()),
      lang: z.enum(SOURCE_LANGUAGES).default("en"),
    }),
    headers: {
      "content-security-policy": "That nothing of it may run",
      "x-content-type-options": "That it is what its media type says",
    },
    response: z.never(),
    streams: { "image/webp": z.string() },
  },
  async ({ params: { code }, query: { jobId, lang }, header }, { sql, pictures, config }: EditionsApi) => {
    const found = await readPreview(sql, { code, language: lang, jobId });
    const cached = { etag: `"${found?.sha256}"`, "cache-control": cacheFor(config.archivePublic, A_DAY_S) };
    if (found !== undefined && holdsTag(header("if-none-match"), cached.etag))
      return new ApiResponse(304, null, cached);
    const picture = found === undefined ? undefined : await pictures.get(found.key);
    if (found === undefined || picture === undefined) {
      const message = `There is no preview of the source ${code}: see entryPreviewUrl of GET /api/sources`;
      throw new ApiError(404, message, { code: "NO_PREVIEW" });
    }
    return new StreamedResponse({
      contentType: found.contentType,
      headers: {
        ...cached,
        "content-length": String(picture.length),
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
      },
      chunks: onePiece(picture),
    });
  },
);

async function* onePiece(picture: Uint8Array): AsyncGenerator<Uint8Array> {
  yield picture;
}
