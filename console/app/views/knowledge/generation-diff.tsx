/** What of a site's documents changed from one generation to another. */
import type { GenerationDifference } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { Listed } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { LiveLink, State } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";

export function GenerationDiff({ from, to }: { from: string; to: string }) {
  const pages = usePages<GenerationDifference>(
    `/api/v1/generations/${encodeURIComponent(from)}/diff/${encodeURIComponent(to)}?limit=100`,
  );
  return (
    <section aria-label="What changed between the generations">
      <h3>What changed</h3>
      <Listed pages={pages} empty="Nothing: both have the same documents.">
        {(differences) => (
          <Table
            items={differences}
            keyOf={({ url }) => url}
            columns={[
              {
                head: "Document",
                cell: ({ url, title, to_document }) => (
                  <>
                    <div class="title">
                      {to_document === null ? (
                        (title ?? "")
                      ) : (
                        <a href={hrefOf(["knowledge", to_document])}>{title ?? url}</a>
                      )}
                    </div>
                    <LiveLink url={url} />
                  </>
                ),
              },
              { head: "Change", cell: ({ change }) => <State of={change} /> },
            ]}
          />
        )}
      </Listed>
    </section>
  );
}
