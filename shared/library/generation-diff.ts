/** What changed between two generations: pages that came, went, and say something else, with their lines. */
import { compareLines, type Difference } from "../archive/changes/compare-lines.ts";
import { pageLines } from "../archive/changes/page-lines.ts";
import type { Section } from "../extract/extraction.ts";
import type { Sql } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { readGeneration } from "./generations.ts";

export interface ChangedPage {
  /** Hex SHA-256 of the URL: pages are in its order. */
  url_hash: string;
  url: string;
  title: string | null;
  change: "added" | "removed" | "changed";
  from_document: string | null;
  to_document: string | null;
  /** Of a changed one, where it was asked for; null: its texts are too long. */
  difference?: Difference | null;
}

/** UTF-16 code units of the two texts of a page that are compared, and of all texts of an answer. */
const LONGEST_TEXT = 1_000_000;
const MOST_TEXT = 4_000_000;

interface Pair {
  id: string;
  from_content: string;
  to_content: string;
  from_sections: Section[];
  to_sections: Section[];
}

/**
 * In the order of the URLs' hashes; deleted pages are in no generation.
 * @param after hash of the last page seen
 * @returns one more than `limit` where others follow
 * @throws ApiError as `readGeneration`; 409 GENERATION_CLEANED where the documents of one of them are gone
 */
export async function compareGenerations(
  sql: Sql,
  [from, to]: readonly [string, string],
  { limit, after, withText }: { limit: number; after: string | undefined; withText: boolean },
): Promise<ChangedPage[]> {
  for (const id of [from, to]) await requireKept(sql, id);
  const pages = await sql<ChangedPage[]>`
    select encode(coalesce(a.url_hash, b.url_hash), 'hex') as url_hash, coalesce(b.url, a.url) as url,
      left(coalesce(b.title, a.title), 1000) as title, a.id as from_document, b.id as to_document,
      case when a.id is null then 'added' when b.id is null then 'removed' else 'changed' end as change
    from (select * from documents where generation_id = ${from} and deleted_at is null) a
      full join (select * from documents where generation_id = ${to} and deleted_at is null) b on b.url_hash = a.url_hash
    where (a.content_hash is distinct from b.content_hash or a.title is distinct from b.title)
      and coalesce(a.url_hash, b.url_hash) > decode(${after ?? ""}, 'hex')
    order by coalesce(a.url_hash, b.url_hash) limit ${limit + 1}`;
  if (!withText) return pages;
  return await withDifferences(sql, pages, limit);
}

async function requireKept(sql: Sql, id: string): Promise<void> {
  await readGeneration(sql, id);
  const [cleaned] = await sql`
    select from generations g where id = ${id} and cleaned_at is not null`;
  if (cleaned !== undefined) {
    throw new ApiError(409, `Generation ${id} was cleaned: not all of its documents are there to be compared`, {
      code: "GENERATION_CLEANED",
    });
  }
}

async function withDifferences(sql: Sql, pages: readonly ChangedPage[], limit: number): Promise<ChangedPage[]> {
  let text = 0;
  const compared: ChangedPage[] = [];
  for (const page of pages) {
    if (page.change !== "changed" || compared.length >= limit) {
      compared.push(page);
      continue;
    }
    const [pair] = await sql<Pair[]>`
      select a.id, a.content as from_content, b.content as to_content, a.sections as from_sections,
        b.sections as to_sections
      from documents a, documents b
      where a.id = ${page.from_document} and b.id = ${page.to_document}
        and length(a.content) + length(b.content) <= ${Math.min(LONGEST_TEXT, MOST_TEXT - text)}`;
    text += pair === undefined ? 0 : pair.from_content.length + pair.to_content.length;
    const difference =
      pair === undefined
        ? null
        : compareLines(
            pageLines({ text: pair.from_content, sections: pair.from_sections }),
            pageLines({ text: pair.to_content, sections: pair.to_sections }),
          );
    compared.push({ ...page, difference });
  }
  return compared;
}
