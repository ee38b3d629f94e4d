/** The pages of a job. */
import type { CrawledPage } from "../../api/types.ts";
import type { LongList } from "../../lists/use-block-list.ts";
import { type LongColumn, LongTable } from "../../parts/long-table.tsx";
import { Empty, Fault, Panel } from "../../parts/page.tsx";
import { LiveLink, number, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";

const COLUMNS: readonly LongColumn<CrawledPage>[] = [
  {
    head: "Page",
    width: 52,
    cell: (page) => (
      <>
        {faultOf(page) === undefined ? (
          <div class="title">{page.title ?? ""}</div>
        ) : (
          <div class="bad" title={faultOf(page)}>
            {faultOf(page)}
          </div>
        )}
        <LiveLink url={page.url} />
      </>
    ),
  },
  { head: "Status", width: 9, cell: ({ status_code }) => status_code || "–", isFigure: true },
  { head: "Depth", width: 8, cell: ({ depth }) => depth, isFigure: true },
  { head: "Fetched", width: 20, cell: ({ crawled_at }) => <Time at={crawled_at} /> },
  {
    head: "See it",
    width: 11,
    cell: ({ url, title }) => (
      <a href={hrefOf(["archive"], { url })} aria-label={`Archived: ${title ?? url}`}>
        Archived
      </a>
    ),
  },
];

const faultOf = ({ fetch_error, parse_error }: CrawledPage): string | undefined => fetch_error ?? parse_error;

const textOf = (page: CrawledPage): string => `${page.title ?? ""} ${page.url} ${faultOf(page) ?? ""}`;

export function ResultTable({ results: { rows, fault }, isOver }: { results: LongList<CrawledPage>; isOver: boolean }) {
  const isEmpty = rows.isCounted && rows.count === 0;
  return (
    <Panel title="Pages" aside={rows.isCounted ? <span>{number(rows.count)}</span> : null}>
      <Fault fault={fault} />
      {isEmpty ? (
        <Empty>{isOver ? "No page of this job has ended." : "The first page shows here once it is fetched."}</Empty>
      ) : fault !== undefined && !rows.isCounted ? null : (
        <LongTable rows={rows} columns={COLUMNS} label="Pages" textOf={textOf} />
      )}
    </Panel>
  );
}
