/** The main text of captures as ingest has stored it: where that is what reading the archive again would give. */
import type { Queryable } from "../../platform/database/database.ts";

/** What is known of a page by its main text. */
export interface PageText {
  title: string | null;
  text: string;
  sections: readonly TextSection[];
  /** ISO 639-1, or "und". */
  language: string;
  /** Absolute URLs; none where the page asks that nobody follow them. */
  links: readonly string[];
}

/** Offsets count UTF-16 code units. */
interface TextSection {
  heading: string | null;
  level: number;
  start: number;
  end: number;
}

/**
 * Documents that were made of these very captures: of the whole answer, as it was sent, and of its main content.
 * Others are of a rendered page, of what a job selected, or hold texts of a package's list of pages.
 * @param most characters of a text that are wanted; left out: all
 * @returns texts by the ids of captures
 */
export async function storedTexts(
  sql: Queryable,
  captureIds: readonly number[],
  most?: number,
): Promise<Map<number, PageText>> {
  if (captureIds.length === 0) return new Map();
  const rows = await sql<(PageText & { id: number })[]>`
    select c.id, d.title, ${most === undefined ? sql`d.content` : sql`left(d.content, ${most})`} as text,
      ${most === undefined ? sql`d.sections` : sql`'[]'::jsonb`} as sections, d.language, d.links
    from captures c join jobs j on j.id = c.job_id
      join documents d on d.generation_id = j.generation_id and d.url_hash = c.final_url_hash and d.capture_id = c.id
    where c.id = any(${captureIds as number[]}::bigint[]) and not c.truncated
      and coalesce(jsonb_typeof(c.rendered), 'null') = 'null'
      and jsonb_array_length(coalesce(j.settings->'config'->'include_selectors', '[]')) = 0
      and jsonb_array_length(coalesce(j.settings->'config'->'exclude_selectors', '[]')) = 0
      and coalesce(j.settings->'config'->'only_main_content', 'true') = 'true'
      and not exists (select from warc_imports i where i.job_id = j.id and i.signature is not null)`;
  return new Map(rows.map(({ id, ...text }) => [id, text]));
}
