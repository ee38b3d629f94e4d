/** Web archives as files: made of a job, or of what the archive has of an address. */

import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Package, PackageDetails } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Does } from "../../parts/does.tsx";
import { SmallForm } from "../../parts/form.tsx";
import { Listed, Panel } from "../../parts/page.tsx";
import { webUrl } from "../../parts/safe-url.ts";
import { Table } from "../../parts/table.tsx";
import { number, State, size, Time } from "../../parts/text.tsx";

export function Exports() {
  const pages = usePages<Package>("/api/v1/exports?limit=20");
  const [said, setSaid] = useState("");
  return (
    <Panel
      title="Exports"
      aside={
        <button type="button" onClick={pages.reload}>
          Look again
        </button>
      }
    >
      <Listed
        pages={pages}
        empty="No WACZ file yet. A job that has ended can be saved as one, and so can a site below."
      >
        {(exports) => (
          <Table
            items={exports}
            keyOf={({ id }) => id}
            columns={[
              { head: "File", cell: ({ filename }) => filename },
              {
                head: "State",
                cell: ({ status, error }) => (
                  <>
                    <State of={status} /> {error ?? ""}
                  </>
                ),
              },
              { head: "Pages", cell: (each) => number(each.pages), isFigure: true },
              { head: "Bytes", cell: ({ bytes }) => (bytes === null ? "–" : number(bytes)), isFigure: true },
              { head: "Since", cell: ({ created_at }) => <Time at={created_at} /> },
              {
                head: "Fetch",
                cell: ({ id, filename, status }) =>
                  status !== "completed" ? null : (
                    <Does
                      label={`Fetch ${filename}`}
                      act={async () => {
                        const { download } = await call<PackageDetails>(`/api/v1/exports/${encodeURIComponent(id)}`);
                        const url = webUrl(download?.url);
                        if (url !== undefined) open(url, "_blank", "noopener,noreferrer");
                      }}
                    >
                      Fetch
                    </Does>
                  ),
              },
              {
                head: "Delete",
                cell: (each) =>
                  HAS_ENDED.has(each.status) ? (
                    <Delete
                      made={each}
                      tell={(what) => {
                        setSaid(what);
                        pages.reload();
                      }}
                    />
                  ) : (
                    <span class="faint">once it has ended</span>
                  ),
              },
            ]}
          />
        )}
      </Listed>
      <p role="status">{said}</p>
      <SmallForm
        label="Make the file"
        fields={[
          { name: "url", label: "Of this address", isRequired: true },
          {
            name: "matchType",
            label: "And what lies",
            choices: [
              { value: "exact", label: "nowhere else" },
              { value: "prefix", label: "below it" },
              { value: "host", label: "on its host" },
              { value: "domain", label: "on its domain" },
            ],
          },
        ]}
        send={async ({ url, matchType }) => {
          await call("/api/v1/exports", { body: { url, matchType } });
          pages.reload();
        }}
      />
    </Panel>
  );
}

const HAS_ENDED = new Set(["completed", "failed"]);

function Delete({ made: { id, filename, bytes }, tell }: { made: Package; tell(what: string): void }) {
  const goes = bytes === null ? "It has no file: its row" : `Its file of ${size(bytes)}`;
  return (
    <Confirm
      label={`Delete ${filename}`}
      question={`Delete the export ${filename}?`}
      act={async () => {
        await call(`/api/v1/exports/${encodeURIComponent(id)}`, { method: "DELETE" });
        tell(`${filename} is deleted${bytes === null ? "" : `, and its ${size(bytes)} with it`}.`);
      }}
    >
      <p>{goes} goes for good, and links to it stop working. What it was made of stays, and can be exported anew.</p>
    </Confirm>
  );
}
