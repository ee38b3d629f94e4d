/** Takes pictures and PDFs of pages and runs scripts in them, for whoever waits for it. */
import { createStreamApi } from "../adapters/api/stream-api.ts";
import { mediaApi } from "./dependencies.ts";
import { executeJs, pdf, screenshot } from "./routes.ts";

export const api = createStreamApi("media-api", [screenshot, pdf, executeJs], mediaApi);
export const handler = api.handler;
