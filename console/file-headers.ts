/** What a browser is told about each of the console's files, wherever it is served from. */
import { extname } from "node:path";
import { ASKED_EACH_TIME, FOR_EVER } from "./security-headers.ts";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** The media type of a file of the build; undefined where it is not to be served. */
export const contentTypeOf = (name: string): string | undefined => TYPES[extname(name)];

/** @param name as in the build, e.g. `index.html` */
export const cacheControlOf = (name: string): string => (name.startsWith("assets/") ? FOR_EVER : ASKED_EACH_TIME);
