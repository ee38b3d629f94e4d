/** Settings of crawls that have a name. */

import schemas from "strandline:request-schemas";
import { call } from "../../api/client.ts";
import type { Config } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { SchemaForm } from "../../forms/schema-form.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Listed, Panel } from "../../parts/page.tsx";
import { Preformatted } from "../../parts/preformatted.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/text.tsx";

/** What every config has, whatever it sets. */
const OWN = new Set(["id", "name", "created_at", "updated_at"]);

export function Configs() {
  const pages = usePages<Config>("/api/v1/configs?limit=50");
  return (
    <Panel title="Crawl configs">
      <Listed
        pages={pages}
        empty="No settings have a name yet. Name some below, and a crawl can take them by their id."
      >
        {(configs) => (
          <Table
            items={configs}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Name",
                cell: (config) => (
                  <details>
                    <summary>{config.name}</summary>
                    <Preformatted>
                      {JSON.stringify(
                        Object.fromEntries(Object.entries(config).filter(([name]) => !OWN.has(name))),
                        null,
                        2,
                      )}
                    </Preformatted>
                  </details>
                ),
              },
              { head: "Id", cell: ({ id }) => <code>{id}</code> },
              { head: "Since", cell: ({ created_at }) => <Time at={created_at} /> },
              {
                head: "Delete",
                cell: ({ id, name }) => (
                  <Confirm
                    label={`Delete ${name}`}
                    question={`Delete the config ${name}?`}
                    act={async () => {
                      await call(`/api/v1/configs/${encodeURIComponent(id)}`, { method: "DELETE" });
                      pages.reload();
                    }}
                  >
                    <p>Jobs that were started with it go on. What names it later is refused.</p>
                  </Confirm>
                ),
              },
            ]}
          />
        )}
      </Listed>
      <details>
        <summary>New config</summary>
        <SchemaForm
          schema={schemas.config}
          first={["name"]}
          words={{ name: { label: "Name of the config" } }}
          label="Create the config"
          send={async (body) => {
            await call("/api/v1/configs", { body });
            pages.reload();
          }}
        />
      </details>
    </Panel>
  );
}
