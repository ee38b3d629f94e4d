/** The routes that take pictures and PDFs of one page, and run scripts in it. */
import { z } from "zod";
import {
  artefactSchema,
  MEDIA_QUEUE,
  type MediaRequest,
  scriptResultsSchema,
} from "../../shared/crawl/tasks/media-request.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { checkedUrl } from "../adapters/crawling/checked-url.ts";
import type { MediaApi } from "./dependencies.ts";

/** API Gateway waits 29 s; the response and the start of a container need some of it. */
const ANSWER_WITHIN_MS = 26_000;
const MAX_SCRIPTS = 20;

const page = {
  /** The URL guard checks it, and has codes of its own. */
  url: z.string().min(1),
  /** CSS selector that must appear first. */
  wait_for: z.string().min(1).max(500).nullable().default(null),
  respect_robots_txt: z.boolean().default(true),
};
/** After the page has loaded, in seconds. */
const waitSeconds = z.number().min(0).max(10).default(2);

const seen = {
  url: z.string(),
  final_url: z.string(),
  status_code: z.int(),
  navigations: z.array(z.string()),
  complete: z.boolean(),
};
const artefact = z.object({
  ...seen,
  content_type: z.string(),
  size_bytes: z.int(),
  width: z.int().nullable(),
  height: z.int().nullable(),
  truncated: z.boolean(),
  download_url: z.url(),
  expires_at: z.iso.datetime(),
});

export const screenshot = defineRoute(
  {
    method: "POST",
    path: "/api/v1/screenshot",
    scope: "write",
    summary: "A picture of a page; the link to it works for an hour",
    body: z.strictObject({
      ...page,
      wait_seconds: waitSeconds,
      full_page: z.boolean().default(true),
      format: z.enum(["png", "jpeg", "webp"]).default("png"),
    }),
    response: artefact,
  },
  async ({ body }, api: MediaApi) => {
    const { full_page: fullPage, format } = body;
    return await askForArtefact(api, { kind: "screenshot", ...pageOf(api, body), fullPage, format });
  },
);

export const pdf = defineRoute(
  {
    method: "POST",
    path: "/api/v1/pdf",
    scope: "write",
    summary: "A page as PDF; the link to it works for an hour",
    body: z.strictObject({ ...page, wait_seconds: waitSeconds }),
    response: artefact,
  },
  async ({ body }, api: MediaApi) => await askForArtefact(api, { kind: "pdf", ...pageOf(api, body) }),
);

export const executeJs = defineRoute(
  {
    method: "POST",
    path: "/api/v1/execute-js",
    scope: "admin",
    summary: "Run scripts in a page, one after the other, and tell what each returned",
    body: z.strictObject({
      ...page,
      scripts: z.array(z.string().min(1).max(100_000)).min(1).max(MAX_SCRIPTS),
    }),
    response: z.object({
      ...seen,
      results: z.array(
        z.object({ index: z.int(), success: z.boolean(), result: z.unknown(), error: z.string().nullable() }),
      ),
    }),
  },
  async ({ body, caller, log }, api: MediaApi) => {
    const opened = pageOf(api, { ...body, wait_seconds: 0 });
    log.info("scripts are run in a page", { by: caller.keyId, scripts: body.scripts.length });
    const answer = await api.remote.ask(
      MEDIA_QUEUE,
      { kind: "execute-js", ...opened, scripts: body.scripts } satisfies MediaRequest,
      ANSWER_WITHIN_MS,
    );
    const { results, ...about } = scriptResultsSchema.parse(answer);
    return { ...seenOf(opened.url, about), results };
  },
);

interface PageRequest {
  url: string;
  wait_for: string | null;
  wait_seconds: number;
  respect_robots_txt: boolean;
}

/** @throws ApiError where the URL cannot be one to open */
function pageOf({ inspector }: MediaApi, body: PageRequest) {
  return {
    url: checkedUrl(inspector, body.url, "url"),
    waitFor: body.wait_for,
    waitSeconds: body.wait_seconds,
    respectRobotsTxt: body.respect_robots_txt,
  };
}

async function askForArtefact({ remote, links }: MediaApi, request: MediaRequest) {
  const answer = artefactSchema.parse(await remote.ask(MEDIA_QUEUE, request, ANSWER_WITHIN_MS));
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

function seenOf(
  url: string,
  about: { finalUrl: string; status: number; navigations: string[]; complete: boolean },
): z.infer<z.ZodObject<typeof seen>> {
  const { finalUrl, status, navigations, complete } = about;
  return { url, final_url: finalUrl, status_code: status, navigations, complete };
}
