/** What is told of hits: their texts, where the query's words stand in them, and what stands beside them. */
import type { Transaction } from "../../platform/database/database.ts";
import type { FusedHit } from "./fusion.ts";
import { type Highlight, highlight, type Marks } from "./highlight.ts";
import type { ListedHit, NearDuplicate } from "./listed-hit.ts";
import { type SearchFilter, visibleDocument } from "./search-filter.ts";
import { type FoundSection, type PlacedSection, readSections } from "./sections.ts";

export interface DescribedDuplicate extends NearDuplicate {
  documentId: string;
  url: string;
  title: string | null;
}

export interface SearchResult extends ListedHit {
  documentId: string;
  url: string;
  title: string | null;
  /** Where sections are asked for, what of the passage stands in it. */
  content: string;
  sectionHeader: string | null;
  highlights: Highlight[];
  /** The texts before and behind, without what the content holds; empty unless asked for. */
  beside: string[];
  /** Of `collapsed`, those that are still visible. */
  duplicates: DescribedDuplicate[];
  /** null unless sections are asked for, and where the document has none. */
  section: FoundSection | null;
}

/** In characters. */
export const LONGEST_TITLE = 1000;

/**
 * The visible ones of some chunks as `c`, their documents as `d`: one after the other by their keys, since joining
 * costs as much as there are documents.
 */
export function visibleChunks(
  tx: Transaction,
  ids: readonly string[],
  filter: SearchFilter = {},
  of: "chunks" | "chunks_serving" = "chunks",
) {
  return tx`
    unnest(${ids}::uuid[]) hit (id)
    cross join lateral (select * from ${tx(of)} where id = hit.id limit 1) c
    cross join lateral (select * from ${visibleDocument(tx, "c.document_id", filter)}) d`;
}

/**
 * The hits whose chunks are visible and match, in their order.
 * @param of `chunks`: those as well that answered before the chunk size was changed
 */
export async function visibleHits<Hit extends { chunkId: string }>(
  tx: Transaction,
  hits: readonly Hit[],
  condition: string | null,
  filter: SearchFilter,
  of: "chunks" | "chunks_serving" = "chunks_serving",
): Promise<Hit[]> {
  const rows = await tx<{ id: string }[]>`
    select c.id
    from ${visibleChunks(
      tx,
      hits.map(({ chunkId }) => chunkId),
      filter,
      of,
    )}
    ${condition === null ? tx`` : tx`where c.fts @@ ${condition}::tsquery`}`;
  const visible = new Set(rows.map(({ id }) => id));
  return hits.filter(({ chunkId }) => visible.has(chunkId));
}

/** The visible ones of the hits, in their order. */
export async function describe(
  tx: Transaction,
  hits: readonly ListedHit[],
  marks: Marks,
  expand: boolean,
): Promise<SearchResult[]> {
  const ids = hits.flatMap(({ chunkId, collapsed = [] }) => [chunkId, ...collapsed.map((each) => each.chunkId)]);
  const rows = await tx<DescribedChunk[]>`
    select c.id as "chunkId", d.id as "documentId", d.url, left(d.title, ${LONGEST_TITLE}) as title, c.content,
      left(c.section_header, ${LONGEST_TITLE}) as "sectionHeader", d.language
    from ${visibleChunks(tx, ids)}`;
  const found = new Map(rows.map((row) => [row.chunkId, row]));
  const sections = await readSections(tx, hits);
  const results = hits.flatMap((hit) => {
    const row = found.get(hit.chunkId);
    if (row === undefined) return [];
    const placed = sections.get(hit.chunkId);
    return [{ ...hit, ...row, ...inSection(row, placed), duplicates: describedDuplicates(hit, found) }];
  });
  const highlights = await highlight(
    tx,
    results.map(({ content, language }) => ({ text: content, language })),
    marks,
  );
  const beside = expand ? await textsBeside(tx, hits) : new Map<string, string[]>();
  return results.map(({ language: _, ...result }, index) => ({
    ...result,
    highlights: highlights[index] ?? [],
    beside: beside.get(result.chunkId) ?? [],
  }));
}

/** Of a passage, what stands in the section that it stands for. */
function inSection(
  { content, sectionHeader }: DescribedChunk,
  placed: PlacedSection | undefined,
): Pick<SearchResult, "content" | "sectionHeader" | "section"> {
  if (placed === undefined) return { content, sectionHeader, section: null };
  const { range, ...section } = placed;
  return { content: content.slice(...range).trimEnd(), sectionHeader: section.heading, section };
}

interface DescribedChunk extends Pick<SearchResult, "chunkId" | "documentId" | "url" | "title" | "content"> {
  sectionHeader: string | null;
  language: string;
}

function describedDuplicates(
  { collapsed = [] }: ListedHit,
  found: ReadonlyMap<string, DescribedChunk>,
): DescribedDuplicate[] {
  return collapsed.flatMap((each) => {
    const row = found.get(each.chunkId);
    if (row === undefined) return [];
    const { documentId, url, title } = row;
    return [{ ...each, documentId, url, title }];
  });
}

/** By chunk, the texts of its neighbours without what they have in common with it, the one before first. */
async function textsBeside(tx: Transaction, hits: readonly FusedHit[]): Promise<Map<string, string[]>> {
  const rows = await tx<{ chunkId: string; content: string; before: boolean; shared: number }[]>`
    select c.id as "chunkId", n.content, n.chunk_index < c.chunk_index as before,
      case when n.chunk_index < c.chunk_index then n.end_char - c.start_char else c.end_char - n.start_char end as shared
    from chunks c
    join chunks n on n.document_id = c.document_id and n.chunk_set = c.chunk_set and n.chunk_index in (c.chunk_index - 1, c.chunk_index + 1)
    where c.id = any(${hits.map(({ chunkId }) => chunkId)}::uuid[])
    order by n.chunk_index`;
  const texts = new Map<string, string[]>();
  for (const { chunkId, content, before, shared } of rows) {
    const overlap = Math.max(0, shared);
    const text = before ? content.slice(0, Math.max(0, content.length - overlap)) : content.slice(overlap);
    texts.set(chunkId, [...(texts.get(chunkId) ?? []), text]);
  }
  return texts;
}
