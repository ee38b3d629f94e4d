/**
 * A ranking of sections: those in which the passages of a ranking stand, each with the score of its best one. A passage
 * that holds several short sections counts for the one in which most words of the query stand, or else for the one that
 * has most of its text.
 */
import type { Transaction } from "../../platform/database/database.ts";
import type { FusedHit } from "./fusion.ts";
import { highlight, type Marks } from "./highlight.ts";
import type { ListedHit } from "./listed-hit.ts";

export interface FoundSection {
  /** Place in the document, from 0. */
  position: number;
  /** 0 for what stands before the first heading. */
  level: number;
  heading: string | null;
  /** Headings of those that it stands in, the outermost first, and its own. */
  path: string[];
}

/** Sections that one passage is looked at for. */
const MOST_SECTIONS = 100;
/** Headings of a path: pages have six levels at the most, what was imported may have more. */
const LONGEST_PATH = 32;

interface PlacedChunk {
  id: string;
  documentId: string;
  section: number | null;
  language: string;
  /** In the document's text. */
  start: number;
  /** Of the first section that it holds text of, and of those behind; null where it holds text of no other. */
  starts: number[] | null;
  content: string | null;
}

/** @param hits best first */
export async function groupBySection(tx: Transaction, hits: readonly FusedHit[], marks: Marks): Promise<ListedHit[]> {
  const rows = await tx<PlacedChunk[]>`
    select c.id, c.document_id as "documentId", c.section, d.language, c.start_char as start, several.starts,
      case when several.starts is not null then c.content end as content
    from unnest(${hits.map(({ chunkId }) => chunkId)}::uuid[]) hit (id)
    cross join lateral (select * from chunks where id = hit.id limit 1) c
    cross join lateral (select language, sections from documents where id = c.document_id limit 1) d
    left join lateral (
      select jsonb_path_query_array(
        d.sections, format('$[%s to %s].start', c.section, c.section + ${MOST_SECTIONS - 1}::int)::jsonpath) as starts
      where (d.sections -> (c.section + 1) ->> 'start')::int < c.end_char) several on true`;
  const places = new Map(rows.map((row) => [row.id, row]));
  const several = rows.filter((row): row is Several => row.starts !== null && row.content !== null);
  const found = await highlight(
    tx,
    several.map(({ content, language }) => ({ text: content, language })),
    marks,
  );
  for (const [at, row] of several.entries()) row.section = likeliest(row, found[at] ?? []);
  const seen = new Set<string>();
  return hits.flatMap((hit) => {
    const place = places.get(hit.chunkId);
    if (place === undefined) return [];
    const { documentId, section } = place;
    const name = `${documentId} ${section}`;
    if (seen.has(name)) return [];
    seen.add(name);
    return [{ ...hit, sectionAt: section }];
  });
}

type Several = PlacedChunk & { starts: number[]; content: string };

function likeliest({ section, start, starts, content }: Several, marks: readonly [number, number][]): number {
  const bounds = starts.map((each) => Math.max(0, each - start)).filter((each) => each < content.length);
  const parts = bounds.map((from, at) => {
    const to = bounds[at + 1] ?? content.length;
    return { words: marks.filter(([begin]) => begin >= from && begin < to).length, length: to - from };
  });
  let best = 0;
  for (const [at, { words, length }] of parts.entries()) {
    const other = parts[best];
    if (other === undefined) continue;
    if (words > other.words || (words === other.words && length > other.length)) best = at;
  }
  return (section ?? 0) + best;
}

export interface PlacedSection extends FoundSection {
  /** What of the passage stands in it, in UTF-16 code units. */
  range: [start: number, end: number];
}

/** By chunk, the sections that hits were grouped by; of documents without sections none. */
export async function readSections(
  tx: Transaction,
  hits: readonly ListedHit[],
): Promise<ReadonlyMap<string, PlacedSection>> {
  const grouped = hits.flatMap(({ chunkId, sectionAt }) =>
    sectionAt == null ? [] : [{ chunkId, section: sectionAt }],
  );
  if (grouped.length === 0) return new Map();
  const rows = await tx<(FoundSection & { chunkId: string; from: number; to: number | null })[]>`
    select c.id as "chunkId", hit.section as position, (s.own ->> 'level')::int as level, s.own ->> 'heading' as heading,
      p.path, (s.own ->> 'start')::int - c.start_char as "from",
      (d.sections -> (hit.section + 1) ->> 'start')::int - c.start_char as "to"
    from unnest(${grouped.map(({ chunkId }) => chunkId)}::uuid[], ${grouped.map(({ section }) => section)}::int[])
      hit (id, section)
    cross join lateral (select * from chunks where id = hit.id limit 1) c
    cross join lateral (select sections from documents where id = c.document_id limit 1) d
    cross join lateral (select d.sections -> hit.section as own) s
    cross join lateral (
      with recursive up (heading, parent, height) as (
        select s.own ->> 'heading', (s.own ->> 'parent')::int, 0
        union all
        select above.own ->> 'heading', (above.own ->> 'parent')::int, up.height + 1
        from up cross join lateral (select d.sections -> up.parent as own) above
        where up.parent is not null and up.height < ${LONGEST_PATH - 1})
      select coalesce(array_agg(up.heading order by up.height desc) filter (where up.heading is not null), '{}') as path
      from up) p
    where s.own is not null`;
  return new Map(
    rows.map(({ chunkId, from, to, ...section }) => [
      chunkId,
      { ...section, range: [Math.max(0, from), to === null || to <= 0 ? Number.POSITIVE_INFINITY : to] },
    ]),
  );
}
