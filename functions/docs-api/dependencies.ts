/** What the reference is made of: the OpenAPI document, and the files of its pages. Nothing of it needs a key. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Gate } from "../../shared/access/authorize.ts";
import { keyRequired } from "../../shared/access/authorize.ts";
import { loadConfig } from "../../shared/platform/config.ts";
import { createLogger } from "../../shared/platform/observability/log.ts";
import type { ApiDocument } from "../../shared/reference/document.ts";
import type { Site } from "../../shared/reference/page.ts";
import type { ApiDependencies } from "../adapters/api/route.ts";

export interface DocsApi extends ApiDependencies {
  site: Site;
  /** Of a text that is served, as HTTP has it: weak, since it may leave compressed. */
  etagOf(text: string): string;
  /** A file of the pages, by its name. */
  fileOf(name: keyof typeof FILE_TYPES): string;
}

export const FILE_TYPES = {
  "colours.css": "text/css; charset=utf-8",
  "reference.css": "text/css; charset=utf-8",
  "reference.js": "text/javascript; charset=utf-8",
} as const;

/** Beside the bundle on AWS, and where it is written on one machine. */
const DOCUMENT = ["openapi.json", "../../docs/openapi.json"];

export function createDocsApi(): DocsApi {
  const { logLevel, consolePath } = loadConfig();
  const document = readDocument();
  const files = new Map<string, string>();
  return {
    log: createLogger({ function: "docs-api" }, logLevel),
    gate: NO_GATE,
    site: { document, consolePath: consolePath === "" ? undefined : consolePath },
    etagOf: (text) => `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`,
    fileOf(name) {
      const text = files.get(name) ?? readFileSync(join(import.meta.dirname, "files", name), "utf8");
      files.set(name, text);
      return text;
    },
  };
}

function readDocument(): ApiDocument {
  const file = DOCUMENT.map((each) => join(import.meta.dirname, each)).find((each) => existsSync(each));
  if (file === undefined) throw new Error("The OpenAPI document is neither beside the function nor in docs/");
  return JSON.parse(readFileSync(file, "utf8")) as ApiDocument;
}

/** There is no database here that knows keys, and no route that needs one. */
const NO_GATE: Gate = {
  async admit() {
    throw keyRequired();
  },
  async stillAdmits() {
    return false;
  },
};
