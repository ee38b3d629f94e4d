/** How hosts are treated: how fast, and whether at all. */

import { useState } from "preact/hooks";
import type { DomainStat, DomainSummary } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { SmallForm } from "../../parts/form.tsx";
import { Listed, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { number, State, Time } from "../../parts/text.tsx";
import { DomainState } from "./domain.tsx";

export function Domains() {
  const settings = usePages<DomainSummary>("/api/v1/domains?limit=50");
  const counts = usePages<DomainStat>("/api/v1/stats/domains?limit=50");
  const [shown, setShown] = useState<string>();
  const opener = (domain: string) => (
    <button type="button" onClick={() => setShown(domain)} aria-label={`Show ${domain}`}>
      Show
    </button>
  );
  return (
    <Panel title="Domains">
      <SmallForm
        label="Show the domain"
        fields={[
          { name: "domain", label: "Domain", hint: "A host, with its port unless that is 80 or 443", isRequired: true },
        ]}
        send={async ({ domain }) => setShown(domain)}
      />
      {shown === undefined ? null : <DomainState key={shown} domain={shown} changed={settings.reload} />}
      <h3>With settings of their own</h3>
      <Listed pages={settings} empty="None: every host is treated alike.">
        {(domains) => (
          <Table
            items={domains}
            keyOf={({ domain }) => domain}
            columns={[
              { head: "Domain", cell: ({ domain }) => domain },
              { head: "Requests a second", cell: ({ rate_limit_rps }) => rate_limit_rps ?? "–", isFigure: true },
              {
                head: "State",
                cell: ({ is_blocked, blocked_reason }) => (
                  <>
                    <State of={is_blocked ? "blocked" : "active"} /> {blocked_reason ?? ""}
                  </>
                ),
              },
              { head: "See it", cell: ({ domain }) => opener(domain) },
            ]}
          />
        )}
      </Listed>
      <h3>Crawled so far</h3>
      <Listed pages={counts} empty="None yet.">
        {(domains) => (
          <Table
            items={domains}
            keyOf={({ domain }) => domain}
            columns={[
              { head: "Domain", cell: ({ domain }) => domain },
              { head: "Crawled", cell: ({ crawled }) => number(crawled), isFigure: true },
              { head: "Failed", cell: ({ failed }) => number(failed), isFigure: true },
              { head: "Last capture", cell: ({ last_capture_at }) => <Time at={last_capture_at} /> },
              { head: "See it", cell: ({ domain }) => opener(domain) },
            ]}
          />
        )}
      </Listed>
    </Panel>
  );
}
