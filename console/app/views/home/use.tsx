/** What was used this month, what is stored, and what the key's quotas leave of today. */

import { withQuery } from "../../api/client.ts";
import type { Usage } from "../../api/types.ts";
import { useApi } from "../../api/use-api.ts";
import { Empty, Fault, Loading, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { number, size, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";
import { Total } from "./total.tsx";

const EVERY_MS = 30_000;

/** @param isAdmin whether the key is told of the others */
export function Used({ isAdmin }: { isAdmin: boolean }) {
  // days are those of UTC, as quotas count them
  const from = `${new Date().toISOString().slice(0, 7)}-01`;
  const own = useApi<Usage>(withQuery("/api/v1/usage", { from }), EVERY_MS);
  const all = useApi<Usage>(isAdmin ? withQuery("/api/v1/usage", { from, key_id: "all" }) : undefined, EVERY_MS);
  const told = [
    { of: "This key", usage: own.data },
    { of: "All keys", usage: all.data },
  ].flatMap(({ of, usage }) => (usage === undefined ? [] : [{ of, usage }]));
  return (
    <Panel
      title="Used this month"
      aside={
        <span class="faint">
          Since <Time at={`${from}T00:00:00Z`} />
        </span>
      }
    >
      <Fault fault={own.fault ?? all.fault} />
      {own.data === undefined && own.fault === undefined ? <Loading /> : null}
      {own.data === undefined ? null : <Today usage={own.data} />}
      {told.length === 0 ? null : told.every(({ usage }) => isUnused(usage)) ? (
        <Empty>
          Nothing was fetched or stored this month. A <a href={hrefOf(["crawl"])}>crawl</a> counts here what it uses.
        </Empty>
      ) : (
        <div class="narrow">
          <Table
            items={FIGURES}
            keyOf={({ name }) => name}
            columns={[
              { head: "What", cell: ({ name }) => name },
              ...told.map(({ of, usage }) => ({
                head: of,
                cell: ({ figure }: (typeof FIGURES)[number]) => figure(usage),
                isFigure: true,
              })),
            ]}
          />
        </div>
      )}
    </Panel>
  );
}

const FIGURES: readonly { name: string; figure(usage: Usage): string }[] = [
  { name: "Jobs begun", figure: ({ totals }) => number(totals.jobs) },
  { name: "Pages fetched", figure: ({ totals }) => number(totals.pages) },
  { name: "Bytes fetched", figure: ({ totals }) => size(totals.fetched_bytes) },
  { name: "Documents made", figure: ({ totals }) => number(totals.documents) },
  { name: "Stored now", figure: ({ stored_bytes }) => size(stored_bytes) },
];

const isUnused = ({ totals, stored_bytes }: Usage): boolean =>
  stored_bytes === 0 && totals.jobs + totals.pages + totals.documents === 0;

/** Beside the quotas of the key, where it has any. */
function Today({ usage: { days, limits, left, stored_bytes } }: { usage: Usage }) {
  const today = days.at(-1);
  return (
    <>
      <dl class="totals">
        <Total name="Pages today" value={number(today?.pages ?? 0)} {...upTo(limits?.pages_per_day, number)} />
        <Total name="Jobs today" value={number(today?.jobs ?? 0)} {...upTo(limits?.jobs_per_day, number)} />
        <Total name="Stored by this key" value={size(stored_bytes)} {...upTo(limits?.max_stored_bytes, size)} />
      </dl>
      {left === null ? null : (
        <p class="faint">
          Days are those of UTC: this one ends, and quotas of a day begin anew, at <Time at={left.resets_at} />.
        </p>
      )}
    </>
  );
}

const upTo = (limit: number | null | undefined, shown: (value: number) => string): { of?: string } =>
  limit == null ? {} : { of: shown(limit) };
