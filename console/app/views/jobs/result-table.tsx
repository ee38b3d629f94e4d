/** The pages of a job. */
import { Empty, Fault, Panel } from "../../parts/page.tsx";
import { LiveLink, number, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";
import { codeOf } from "./failures.tsx";
import type { Results } from "./use-results.ts";

export function ResultTable({ results: { pages, total, fault, more }, isOver }: { results: Results; isOver: boolean }) {
  return (
    <Panel title="Pages" aside={total === undefined ? null : <span>{number(total)}</span>}>
      <Fault fault={fault} />
      {pages.length === 0 && fault === undefined ? (
        <Empty>{isOver ? "No page of this job has ended." : "The first page shows here once it is fetched."}</Empty>
      ) : (
        <div class="scroll">
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">Page</th>
                <th scope="col" class="figure">
                  Status
                </th>
                <th scope="col" class="figure">
                  Depth
                </th>
                <th scope="col">Fetched</th>
                <th scope="col">See it</th>
              </tr>
            </thead>
            <tbody>
              {pages.map((page) => (
                <tr key={page.url}>
                  <td>
                    <div class="title">{page.title ?? ""}</div>
                    <LiveLink url={page.url} />
                    {codeOf(page) === undefined ? null : <div class="bad">{page.fetch_error ?? page.parse_error}</div>}
                  </td>
                  <td class="figure">{page.status_code ?? "–"}</td>
                  <td class="figure">{page.depth}</td>
                  <td>
                    <Time at={page.crawled_at} />
                  </td>
                  <td>
                    <a href={hrefOf(["archive"], { url: page.url })} aria-label={`Archived: ${page.title ?? page.url}`}>
                      Archived
                    </a>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more === undefined ? null : (
        <p>
          <button type="button" onClick={more}>
            Show more
          </button>
        </p>
      )}
    </Panel>
  );
}
