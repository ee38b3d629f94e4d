/** `scrape URL`: one page, printed in the formats that are asked for. */
import type { ApiClient } from "../api-client.ts";
import { readFields } from "../crawl-request.ts";
import { EXIT } from "../exit.ts";
import type { Terminal } from "../terminal.ts";

export interface ScrapeOptions {
  /** Markdown where there is none. */
  format?: string[];
  /** A file with fields of the request. */
  config?: string;
  json?: true;
}

export async function scrape(api: ApiClient, terminal: Terminal, url: string, options: ScrapeOptions): Promise<number> {
  const file = options.config === undefined ? {} : readFields(options.config);
  const formats = options.format ?? file["formats"] ?? ["markdown"];
  const answer = await api<Record<string, unknown>>("POST", "/api/v1/scrape", { ...file, url, formats });
  if (options.json) terminal.line(JSON.stringify(answer, null, 2));
  else for (const format of formats as string[]) terminal.line(shown(answer[format]));
  return EXIT.done;
}

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join("\n");
  return JSON.stringify(value, null, 2);
}
