/** The routes that take pictures and PDFs of one page, and run scripts in it. */
import { z } from "zod";
import {
  actionsSchema,
  type PageActions,
  viewportSchema,
  windowOf,
} from "../../shared/crawl/settings/browser-settings.ts";
import { MEDIA_QUEUE, type MediaRequest, scriptResultsSchema } from "../../shared/crawl/tasks/media-request.ts";
import { orNull } from "../adapters/api/or-null.ts";
import { defineStreamRoute } from "../adapters/api/stream-route.ts";
import { artefact, askForArtefact, seen, seenOf } from "../adapters/crawling/artefact.ts";
import { checkedUrl } from "../adapters/crawling/checked-url.ts";
import { RENDERING_FAULTS } from "../adapters/crawling/page-faults.ts";
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
  /** Of the browser's window, in CSS pixels. */
  viewport: orNull(viewportSchema),
  mobile: z.boolean().default(false),
};
/** Once the page has loaded, before the picture. */
const actions = actionsSchema.default([]);
/** After the page has loaded, in seconds. */
const waitSeconds = z.number().min(0).max(10).default(2);

export const screenshot = defineStreamRoute(
  {
    method: "POST",
    path: "/api/v1/screenshot",
    scope: "write",
    summary: "A picture of a page; the link to it works for an hour",
    body: z.strictObject({
      ...page,
      wait_seconds: waitSeconds,
      actions,
      full_page: z.boolean().default(true),
      format: z.enum(["png", "jpeg", "webp"]).default("png"),
    }),
    response: artefact,
    errors: RENDERING_FAULTS,
  },
  async ({ body, signal }, api: MediaApi) => {
    const { full_page: fullPage, format } = body;
    const request = { kind: "screenshot", ...pageOf(api, body), fullPage, format } as const;
    return await askForArtefact(api, request, ANSWER_WITHIN_MS, signal);
  },
);

export const pdf = defineStreamRoute(
  {
    method: "POST",
    path: "/api/v1/pdf",
    scope: "write",
    summary: "A page as PDF; the link to it works for an hour",
    body: z.strictObject({ ...page, wait_seconds: waitSeconds, actions }),
    response: artefact,
    errors: RENDERING_FAULTS,
  },
  async ({ body, signal }, api: MediaApi) =>
    await askForArtefact(api, { kind: "pdf", ...pageOf(api, body) }, ANSWER_WITHIN_MS, signal),
);

export const executeJs = defineStreamRoute(
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
    errors: RENDERING_FAULTS,
  },
  async ({ body, caller, log, signal }, api: MediaApi) => {
    const opened = pageOf(api, { ...body, wait_seconds: 0, actions: [] });
    log.info("scripts are run in a page", { by: caller.keyId, scripts: body.scripts.length });
    const answer = await api.remote.ask(
      MEDIA_QUEUE,
      { kind: "execute-js", ...opened, scripts: body.scripts } satisfies MediaRequest,
      ANSWER_WITHIN_MS,
      signal,
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
  viewport?: z.output<typeof viewportSchema> | undefined;
  mobile: boolean;
  actions: PageActions;
}

/** @throws ApiError where the URL cannot be one to open */
function pageOf({ inspector }: MediaApi, body: PageRequest) {
  return {
    url: checkedUrl(inspector, body.url, "url"),
    waitFor: body.wait_for,
    waitSeconds: body.wait_seconds,
    respectRobotsTxt: body.respect_robots_txt,
    window: windowOf(body),
    actions: body.actions,
    headers: {},
    cookies: [],
  };
}
