/** How hosts are treated: how fast, and whether at all. */
import { call } from "../../api/client.ts";
import { usePages } from "../../api/use-api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Does } from "../../parts/does.tsx";
import { SmallForm } from "../../parts/form.tsx";
import { Listed, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { number, State, Time } from "../../parts/text.tsx";

interface Domain {
  domain: string;
  rate_limit_rps: number | null;
  is_blocked: boolean;
  blocked_reason: string | null;
}

interface Counted {
  domain: string;
  crawled: number;
  failed: number;
  last_capture_at: string | null;
}

export function Domains() {
  const settings = usePages<Domain>("/api/v1/domains?limit=50");
  const counts = usePages<Counted>("/api/v1/stats/domains?limit=50");
  const pathOf = (domain: string): string => `/api/v1/domains/${encodeURIComponent(domain)}`;
  return (
    <Panel title="Domains">
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
                    <State of={is_blocked ? "blocked" : "crawled"} /> {blocked_reason ?? ""}
                  </>
                ),
              },
              {
                head: "Change",
                cell: ({ domain, is_blocked }) =>
                  is_blocked ? (
                    <Does
                      label={`Unblock ${domain}`}
                      act={async () => {
                        await call(`${pathOf(domain)}/unblock`, { method: "POST" });
                        settings.reload();
                      }}
                    >
                      Unblock
                    </Does>
                  ) : null,
              },
            ]}
          />
        )}
      </Listed>
      <SmallForm
        label="Set the rate"
        fields={[
          { name: "domain", label: "Domain", isRequired: true },
          { name: "rate", label: "Requests a second", type: "number", isRequired: true },
        ]}
        send={async ({ domain = "", rate }) => {
          await call(pathOf(domain), { method: "PUT", body: { rate_limit_rps: Number(rate) } });
          settings.reload();
        }}
      />
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
              {
                head: "Block",
                cell: ({ domain }) => (
                  <Confirm
                    label={`Block ${domain}`}
                    question={`Block ${domain}?`}
                    act={async () => {
                      await call(`${pathOf(domain)}/block`, { body: { reason: "Blocked in the console" } });
                      settings.reload();
                    }}
                  >
                    <p>
                      Nothing of it is fetched any more, in jobs that run neither. What the archive has of it stays.
                    </p>
                  </Confirm>
                ),
              },
            ]}
          />
        )}
      </Listed>
    </Panel>
  );
}
