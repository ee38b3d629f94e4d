/** Of several captures of one URL in a generation, the newest is the document. */
import type { Transaction } from "../../platform/database/database.ts";
import { uuidv7 } from "../../platform/ids.ts";

interface Dated {
  /** Hex: the key of the document within the generation. */
  finalHash: string;
  capture: { fetchedAt: string };
}

/**
 * Takes documents out of the generation that are older than these pages; maintenance removes them with their vectors.
 * @returns the pages that are newer than all that the generation has of their URL, one of each
 */
export async function supersedeDocuments<Page extends Dated>(
  tx: Transaction,
  generationId: string,
  pages: readonly Page[],
): Promise<Page[]> {
  const newest = new Map<string, Page>();
  for (const page of pages) {
    const known = newest.get(page.finalHash);
    if (known === undefined || known.capture.fetchedAt <= page.capture.fetchedAt) newest.set(page.finalHash, page);
  }
  if (newest.size === 0) return [];
  const hashes = [...newest.keys()].sort();
  const dates = hashes.map((hash) => newest.get(hash)?.capture.fetchedAt as string);
  await tx`
    update documents d set generation_id = ${uuidv7()}
    from (select decode(hash, 'hex') as hash, date from unnest(${hashes}::text[], ${dates}::timestamptz[]) u (hash, date)) u
    where d.generation_id = ${generationId} and d.url_hash = u.hash and d.crawled_at <= u.date`;
  const kept = await tx<{ hash: string }[]>`
    select encode(url_hash, 'hex') as hash from documents
    where generation_id = ${generationId} and url_hash in (select decode(h, 'hex') from unnest(${hashes}::text[]) h)`;
  for (const { hash } of kept) newest.delete(hash);
  return [...newest.values()];
}
