/** Documents that belong together. */

import { call } from "../../api/client.ts";
import type { Collection } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { filledIn, SmallForm } from "../../parts/form.tsx";
import { Listed, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { number } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";

export function Collections({ chosen }: { chosen: string }) {
  const pages = usePages<Collection>("/api/v1/collections?limit=50");
  return (
    <Panel title="Collections" aside={chosen === "" ? undefined : <a href={hrefOf(["knowledge"])}>All documents</a>}>
      <Listed pages={pages} empty="No collection yet. One keeps documents of a subject together: name it here.">
        {(collections) => (
          <Table
            items={collections}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Name",
                cell: ({ id, name }) => (
                  <a
                    href={hrefOf(["knowledge"], { collection: id })}
                    aria-current={id === chosen ? "true" : undefined}
                    class="capture"
                  >
                    {name}
                  </a>
                ),
              },
              { head: "About", cell: ({ description }) => description ?? "" },
              { head: "Documents", cell: ({ documents }) => number(documents), isFigure: true },
            ]}
          />
        )}
      </Listed>
      <details>
        <summary>New collection</summary>
        <SmallForm
          label="Create the collection"
          fields={[
            { name: "name", label: "Name", isRequired: true },
            { name: "description", label: "About" },
          ]}
          send={async (given) => {
            await call("/api/v1/collections", { body: filledIn(given) });
            pages.reload();
          }}
        />
      </details>
    </Panel>
  );
}
