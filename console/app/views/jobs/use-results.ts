/** The pages of a job in the order in which they ended; those that come are put behind. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiFault, call, withQuery } from "../../api/client.ts";
import { faultOf } from "../../api/use-api.ts";

export interface ResultPage {
  url: string;
  depth: number;
  status_code: number | null;
  title?: string;
  fetch_error?: string;
  parse_error?: string;
  disallowed?: boolean;
  crawled_at?: string;
}

export interface Results {
  pages: readonly ResultPage[];
  total: number | undefined;
  fault: ApiFault | undefined;
  /** undefined where no page is left. */
  more: (() => void) | undefined;
}

const FIELDS = "url,title,fetch_error,parse_error,disallowed,crawled_at";
/** Pages that are shown by themselves; a longer list grows when it is asked to. */
const SHOWN = 300;
const STEP = 100;

interface Answer {
  pages: ResultPage[];
  cursor: number;
  has_more: boolean;
  total_pages: number;
}

/** @param ended how many pages have ended so far: where it changes, there are more to be read */
export function useResults(id: string, ended: number | undefined): Results {
  const [state, setState] = useState<{ pages: ResultPage[]; total?: number; fault?: ApiFault }>({ pages: [] });
  const place = useRef({ cursor: 0, isReading: false });
  const read = useCallback(
    async (atMost: number) => {
      if (place.current.isReading) return;
      place.current.isReading = true;
      try {
        for (let room = atMost; room > 0; ) {
          const { cursor } = place.current;
          const query = { cursor, limit: Math.min(room, STEP), include: FIELDS };
          const answer = await call<Answer>(withQuery(`/api/v1/jobs/${encodeURIComponent(id)}/results`, query));
          place.current.cursor = answer.cursor;
          setState(({ pages }) => ({ pages: [...pages, ...answer.pages], total: answer.total_pages }));
          if (answer.pages.length === 0 || answer.cursor >= answer.total_pages) break;
          room -= answer.pages.length;
        }
      } catch (error) {
        setState((before) => ({ ...before, fault: faultOf(error) }));
      } finally {
        place.current.isReading = false;
      }
    },
    [id],
  );
  const room = SHOWN - state.pages.length;
  useEffect(() => {
    if (ended !== undefined && room > 0) void read(room);
  }, [ended, room, read]);
  const known = Math.max(state.total ?? 0, ended ?? 0);
  return {
    pages: state.pages,
    total: state.total,
    fault: state.fault,
    more: room <= 0 && known > state.pages.length ? () => void read(STEP) : undefined,
  };
}
