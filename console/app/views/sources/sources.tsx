/** Sites that are crawled again and again: `#/sources`, `#/sources/ID`. */

import schemas from "strandline:request-schemas";
import { call } from "../../api/client.ts";
import type { Source } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { SchemaForm } from "../../forms/schema-form.tsx";
import { Listed, Panel, View } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { LiveLink, State, Time } from "../../parts/text.tsx";
import { goTo, hrefOf, type Place } from "../../router.ts";
import { SourceView } from "./source.tsx";
import { FIRST, WORDS } from "./words.ts";

export function Sources({ place: { path } }: { place: Place }) {
  const id = path[1];
  return id === undefined ? <SourceList /> : <SourceView key={id} id={id} />;
}

function SourceList() {
  const pages = usePages<Source>("/api/v1/sources?limit=50");
  return (
    <View title="Sources">
      <Listed pages={pages} empty="No source yet. Name a page or a site below, and it can be crawled again and again.">
        {(sources) => (
          <Table
            items={sources}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Source",
                cell: ({ id, name, url }) => (
                  <>
                    <a href={hrefOf(["sources", id])}>{name}</a>
                    <div>
                      <LiveLink url={url} />
                    </div>
                  </>
                ),
              },
              { head: "What", cell: ({ type }) => type },
              { head: "Schedule", cell: ({ schedule_cron }) => schedule_cron ?? "by hand" },
              { head: "State", cell: ({ is_active }) => <State of={is_active ? "active" : "switched off"} /> },
              { head: "Last crawled", cell: ({ last_crawled_at }) => <Time at={last_crawled_at} /> },
            ]}
          />
        )}
      </Listed>
      <Panel title="New source">
        <SchemaForm
          schema={schemas.source}
          first={FIRST}
          words={WORDS}
          start={{ time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone }}
          label="Create the source"
          send={async (body) => {
            const { id } = await call<Source>("/api/v1/sources", { body });
            goTo(["sources", id]);
          }}
        />
      </Panel>
    </View>
  );
}
