/** `documents llms`: the pages of a host as llms.txt, part by part. */
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import type { Terminal } from "../terminal.ts";

interface Part {
  text: string;
  pages: number;
  next_cursor: string | null;
}

export async function writeLlms(
  api: ApiClient,
  terminal: Terminal,
  host: string,
  { full, collection }: { full?: true; collection?: string },
): Promise<number> {
  const selection = new URLSearchParams({
    domain: host,
    ...(full && { full: "true" }),
    ...(collection && { collection_id: collection }),
  });
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null; ) {
    if (cursor !== "") selection.set("cursor", cursor);
    const part: Part = await api("GET", `/api/v1/documents/llms?${selection}`);
    pages += part.pages;
    if (pages === 0) throw new CliError(`Nothing of ${host} can be found: crawl it first`, EXIT.failed);
    terminal.line(part.text.replace(/\n$/, ""));
    cursor = part.next_cursor;
  }
  return EXIT.done;
}
