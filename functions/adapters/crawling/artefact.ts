/** An artefact of a page, as the browser's function has kept it, with a link to it. */
import { z } from "zod";
import { artefactSchema, MEDIA_QUEUE, type MediaRequest } from "../../../shared/crawl/tasks/media-request.ts";
import type { LinkMaker } from "../../../shared/platform/aws/presigned.ts";
import type { RemoteCaller } from "../../../shared/platform/aws/remote-call.ts";
import { ApiError } from "../../../shared/platform/errors.ts";

export const LINK_LIFETIME_S = 3600;

/** Of the page as it was opened. */
export const seen = {
  url: z.string(),
  final_url: z.string(),
  status_code: z.int(),
  navigations: z.array(z.string()),
  complete: z.boolean(),
};
export const artefact = z.object({
  ...seen,
  content_type: z.string(),
  size_bytes: z.int(),
  width: z.int().nullable(),
  height: z.int().nullable(),
  truncated: z.boolean(),
  download_url: z.url(),
  expires_at: z.iso.datetime(),
});

/**
 * @throws ApiError that the browser's function ended with, or 504 REMOTE_TIMEOUT
 * @param gone aborts once whoever asked has left
 */
export async function askForArtefact(
  { remote, links }: { remote: RemoteCaller; links: LinkMaker },
  request: MediaRequest,
  withinMs: number,
  gone: AbortSignal,
): Promise<z.output<typeof artefact>> {
  const answer = artefactSchema.parse(await remote.ask(MEDIA_QUEUE, request, withinMs, gone));
  if (!answer.key.startsWith("media/")) throw new ApiError(500, "There is no artefact", { code: "INTERNAL_ERROR" });
  const { url, expiresAt } = await links.linkTo(answer.key);
  return {
    ...seenOf(request.url, answer),
    content_type: answer.contentType,
    size_bytes: answer.sizeBytes,
    width: answer.width,
    height: answer.height,
    truncated: answer.truncated,
    download_url: url,
    expires_at: new Date(expiresAt).toISOString(),
  };
}

export function seenOf(
  url: string,
  about: { finalUrl: string; status: number; navigations: string[]; complete: boolean },
): z.infer<z.ZodObject<typeof seen>> {
  const { finalUrl, status, navigations, complete } = about;
  return { url, final_url: finalUrl, status_code: status, navigations, complete };
}
