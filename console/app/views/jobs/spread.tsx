/** How a job spreads over its site: its URLs by depth and by status, and those that are next. */
import type { CrawlFrontier } from "../../api/types.ts";
import { Bars } from "../../parts/charts.tsx";
import { Panel } from "../../parts/page.tsx";
import { LiveLink, Time } from "../../parts/text.tsx";

export function Spread({ frontier: { next, counts }, isOver }: { frontier: CrawlFrontier; isOver: boolean }) {
  const fetched = (counts ?? []).filter(({ status_code }) => status_code !== null);
  return (
    <>
      {counts === null ? <p class="faint">The job has too many URLs to be counted by depth and status.</p> : null}
      {counts === null || counts.length === 0 ? null : (
        <div class="columns">
          <Panel title="By status">
            <Bars
              counts={countBy(fetched, ({ status_code }) => (status_code === 0 ? "no answer" : String(status_code)))}
              unit="pages"
            />
          </Panel>
          <Panel title="By depth">
            <Bars counts={countBy(counts, ({ depth }) => String(depth))} unit="URLs" />
          </Panel>
        </div>
      )}
      {isOver || next.length === 0 ? null : (
        <Panel title="Next">
          <ol class="next">
            {next.map(({ url, depth, attempts, not_before }) => (
              <li key={url}>
                <LiveLink url={url} />{" "}
                <span class="faint">
                  depth {depth}
                  {attempts === 0 ? null : (
                    <>
                      , try {attempts + 1}, not before <Time at={not_before} />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ol>
        </Panel>
      )}
    </>
  );
}

interface Counted {
  count: number;
}

function countBy<T extends Counted>(items: readonly T[], name: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(name(item), (counts.get(name(item)) ?? 0) + item.count);
  return new Map([...counts].sort(([one], [other]) => one.localeCompare(other, undefined, { numeric: true })));
}
