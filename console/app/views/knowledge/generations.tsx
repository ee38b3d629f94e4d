/** The states that a site's documents had, and the way back to one. */

import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Generation } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Listed, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { number, State, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";
import { GenerationDiff } from "./generation-diff.tsx";

/** Whether it is of the same hosts, and came before. */
const isBefore = (one: Generation, other: Generation): boolean =>
  one.first_activated_at < other.first_activated_at && one.hosts.join() === other.hosts.join();

export function Generations() {
  const [compared, setCompared] = useState<{ from: string; to: string }>();
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
                head: "Compare",
                cell: (generation) => {
                  const other = generations.find((each) => isBefore(each, generation));
                  return other === undefined ? null : (
                    <button
                      type="button"
                      onClick={() => setCompared({ from: other.id, to: generation.id })}
                      aria-label={`What changed until the generation of ${generation.first_activated_at}`}
                    >
                      What changed
                    </button>
                  );
                },
              },
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
      {compared === undefined ? null : <GenerationDiff key={`${compared.from} ${compared.to}`} {...compared} />}
    </Panel>
  );
}
