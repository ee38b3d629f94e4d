/**
 * The main text of a capture, extracted in one way whatever its crawl selected: as ingest has stored it, or else read
 * back from the archive.
 */
import { decodeKnown } from "../../capture/charset.ts";
import { type RecordPointer, readWarcRecord } from "../../capture/warc-reader.ts";
import { type PageContent, readPageContent } from "../../crawl/http/read-page.ts";
import { isMissingFromArchive } from "../../crawl/results/archived-content.ts";
import { type ContentSelection, MAIN_CONTENT } from "../../extract/content/selection.ts";
import { extractPage } from "../../extract/extract-page.ts";
import type { Extraction } from "../../extract/extraction.ts";
import { type Archive, contentTypeOf, readPayload } from "../replay/payload.ts";
import { type PageText, storedTexts } from "../snapshots/stored-text.ts";
import { type PageLines, pageLines } from "./page-lines.ts";

/** Of a page, content coding undone. */
const MAX_PAGE_BYTES = 50 * 1024 * 1024;

export async function readPageLines(
  ...[archive, capture, rendered]: Parameters<typeof readPageText>
): Promise<PageLines | { problem: string }> {
  const stored = rendered ? undefined : (await storedTexts(archive.sql, [capture.id])).get(capture.id);
  const text = stored ?? (await readPageText(archive, capture, rendered));
  return "problem" in text ? text : pageLines(text);
}

/**
 * Reads it from the archive.
 * @param rendered whether the document that a browser made of it is wanted
 * @param selection what of the page is its text
 * @returns what is wrong with it where it cannot be read, now or ever
 */
export async function readPageText(
  archive: Archive,
  { id, url }: { id: number; url: string },
  rendered: boolean,
  selection = MAIN_CONTENT,
): Promise<PageText | { problem: string }> {
  try {
    return rendered ? await renderedText(archive, id, url) : await sentText(archive, id, url, selection);
  } catch (error) {
    if (!isMissingFromArchive(error)) throw error;
    return { problem: error.message };
  }
}

async function sentText(
  archive: Archive,
  id: number,
  url: string,
  selection: ContentSelection,
): Promise<PageText | { problem: string }> {
  const payload = await readPayload(archive, id);
  if (payload === undefined) return { problem: "The archive holds no answer of the page" };
  // of an answer whose coding is undone
  const headers = payload.headers.filter(([name]) => !/^content-(type|encoding)$/i.test(name));
  const response = {
    status: payload.status,
    startLine: "",
    headers: [...headers, ["Content-Type", contentTypeOf(payload)] as [string, string]],
    body: payload.body,
    truncated: payload.cut ? ("length" as const) : null,
  };
  return textOf(await readPageContent(response, url, MAX_PAGE_BYTES, { selection }));
}

/** An empty page says nothing, which is no fault. */
function textOf({ extraction, error }: Pick<PageContent, "extraction" | "error">): PageText | { problem: string } {
  if (extraction !== null) return asStored(extraction);
  if (error === null || error.code === "EMPTY_BODY")
    return { title: null, text: "", sections: [], language: "und", links: [] };
  return { problem: error.message };
}

const asStored = ({ title, text, sections, language, links, robots }: Extraction): PageText => ({
  title,
  text,
  sections,
  language,
  links: robots.nofollow ? [] : links,
});

async function renderedText(
  { sql, objects }: Archive,
  id: number,
  url: string,
): Promise<PageText | { problem: string }> {
  const [row] = await sql<{ dom: RecordPointer | null }[]>`
    select case when jsonb_typeof(rendered->'warc') = 'object' then rendered->'warc' end as dom
    from captures where id = ${id}`;
  if (!row?.dom) return { problem: "The archive holds no rendered page" };
  const { body } = await readWarcRecord(objects, row.dom);
  return asStored(extractPage(decodeKnown(body, "UTF-8", false), { url }));
}
