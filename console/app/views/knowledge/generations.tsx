/** The states that a site's documents had, and the way back to one. */
import { call } from "../../api/client.ts";
import { usePages } from "../../api/use-api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Listed, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { number, State, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";

interface Generation {
  id: string;
  job_id: string;
  hosts: string[];
  state: string;
  visible_documents: number;
  documents: number;
  activated_at: string;
}

export function Generations() {
  const pages = usePages<Generation>("/api/v1/generations?limit=20");
  return (
    <Panel title="Generations">
      <Listed pages={pages} empty="Each crawl that completes makes one. There is none yet.">
        {(generations) => (
          <Table
            items={generations}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Of",
                cell: ({ job_id, hosts }) => (
                  <a href={hrefOf(["jobs", job_id])} class="address">
                    {hosts.join(", ") || "a job"}
                  </a>
                ),
              },
              { head: "State", cell: ({ state }) => <State of={state} /> },
              {
                head: "Visible",
                cell: (each) => `${number(each.visible_documents)} of ${number(each.documents)}`,
                isFigure: true,
              },
              { head: "Activated", cell: ({ activated_at }) => <Time at={activated_at} /> },
              {
                head: "Go back",
                cell: ({ id, state, documents }) =>
                  state === "kept" ? (
                    <Confirm
                      label="Go back to it"
                      question="Go back to this generation?"
                      act={async () => {
                        await call(`/api/v1/generations/${encodeURIComponent(id)}/activate`, { method: "POST" });
                        pages.reload();
                      }}
                    >
                      <p>
                        Its {number(documents)} documents are found again, and those that took their place no more. The
                        next crawl of the site makes a new generation.
                      </p>
                    </Confirm>
                  ) : null,
              },
            ]}
          />
        )}
      </Listed>
    </Panel>
  );
}
