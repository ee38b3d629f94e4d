/** Takes pictures and PDFs of pages and runs scripts in them, for whoever waits for it. */
import { createApi } from "../adapters/api/api.ts";
import { mediaApi } from "./dependencies.ts";
import { executeJs, pdf, screenshot } from "./routes.ts";

export const api = createApi("media-api", [screenshot, pdf, executeJs], mediaApi);
export const handler = api.handler;
