/** The pages of a job, by their number in the order in which they ended: that of a page never changes. */

import { useEffect } from "preact/hooks";
import { call, withQuery } from "../../api/client.ts";
import type { CrawledPage, JobPageList } from "../../api/types.ts";
import { type LongList, useBlockList } from "../../lists/use-block-list.ts";

const FIELDS = "url,title,fetch_error,parse_error,disallowed,crawled_at";
const SIZE = 200;

/** @param ended how many pages have ended so far: where it changes, there are more to be read */
export function useResults(id: string, ended: number | undefined): LongList<CrawledPage> {
  const path = `/api/v1/jobs/${encodeURIComponent(id)}/results`;
  const list = useBlockList<CrawledPage>(path, () => ({
    size: SIZE,
    cursorOf: (block) => String(block * SIZE),
    async read(cursor, signal) {
      const query = { cursor, limit: SIZE, include: FIELDS };
      const { pages, cursor: next, total_pages } = await call<JobPageList>(withQuery(path, query), { signal });
      return { items: pages, next: String(next), total: total_pages };
    },
  }));
  useEffect(() => {
    if (ended !== undefined) list.rows.refresh();
  }, [ended, list.rows]);
  return list;
}
