/** The pages of a job, by their number in the order in which they ended: that of a page never changes. */
import { useEffect } from "preact/hooks";
import { call, withQuery } from "../../api/client.ts";
import { type LongList, useBlockList } from "../../lists/use-block-list.ts";

export interface ResultPage {
  url: string;
  depth: number;
  /** 0 where no answer came. */
  status_code: number;
  title?: string;
  fetch_error?: string;
  parse_error?: string;
  disallowed?: boolean;
  crawled_at?: string;
}

const FIELDS = "url,title,fetch_error,parse_error,disallowed,crawled_at";
const SIZE = 200;

interface Answer {
  pages: ResultPage[];
  cursor: number;
  total_pages: number;
}

/** @param ended how many pages have ended so far: where it changes, there are more to be read */
export function useResults(id: string, ended: number | undefined): LongList<ResultPage> {
  const path = `/api/v1/jobs/${encodeURIComponent(id)}/results`;
  const list = useBlockList<ResultPage>(path, () => ({
    size: SIZE,
    cursorOf: (block) => String(block * SIZE),
    async read(cursor, signal) {
      const query = { cursor, limit: SIZE, include: FIELDS };
      const { pages, cursor: next, total_pages } = await call<Answer>(withQuery(path, query), { signal });
      return { items: pages, next: String(next), total: total_pages };
    },
  }));
  useEffect(() => {
    if (ended !== undefined) list.rows.refresh();
  }, [ended, list.rows]);
  return list;
}
