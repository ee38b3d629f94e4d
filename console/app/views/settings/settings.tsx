/** What only some keys may change: `#/settings`. */
import { usePages } from "../../api/use-api.ts";
import { Listed, Panel, View } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { State, Time } from "../../parts/text.tsx";
import type { Place } from "../../router.ts";
import { Caches } from "./caches.tsx";
import { Domains } from "./domains.tsx";
import { Keys } from "./keys.tsx";

export function Settings(_: { place: Place }) {
  return (
    <View title="Settings">
      <Keys />
      <Domains />
      <Proxies />
      <Configs />
      <Exports />
      <Caches />
    </View>
  );
}

interface Proxy {
  id: string;
  name: string;
  servers: { url: string }[];
  is_active: boolean;
}

function Proxies() {
  const pages = usePages<Proxy>("/api/v1/proxies?limit=50");
  return (
    <Panel title="Proxies">
      <Listed pages={pages} empty="Crawls go out directly. POST /api/v1/proxies names proxies that a crawl may use.">
        {(proxies) => (
          <Table
            items={proxies}
            keyOf={({ id }) => id}
            columns={[
              { head: "Name", cell: ({ name }) => name },
              { head: "Servers", cell: ({ servers }) => servers.map(({ url }) => url).join(", ") },
              { head: "State", cell: ({ is_active }) => <State of={is_active ? "active" : "switched off"} /> },
            ]}
          />
        )}
      </Listed>
    </Panel>
  );
}

interface CrawlConfig {
  id: string;
  name: string;
  created_at: string;
}

function Configs() {
  const pages = usePages<CrawlConfig>("/api/v1/configs?limit=50");
  return (
    <Panel title="Crawl configs">
      <Listed pages={pages} empty="No settings have a name yet. POST /api/v1/configs gives them one.">
        {(configs) => (
          <Table
            items={configs}
            keyOf={({ id }) => id}
            columns={[
              { head: "Name", cell: ({ name }) => name },
              { head: "Id", cell: ({ id }) => <code>{id}</code> },
              { head: "Since", cell: ({ created_at }) => <Time at={created_at} /> },
            ]}
          />
        )}
      </Listed>
    </Panel>
  );
}

interface Export {
  id: string;
  filename: string;
  status: string;
  error: string | null;
  created_at: string;
}

function Exports() {
  const pages = usePages<Export>("/api/v1/exports?limit=20");
  return (
    <Panel title="Exports">
      <Listed pages={pages} empty="No WACZ file yet. A job that has ended can be saved as one.">
        {(exports) => (
          <Table
            items={exports}
            keyOf={({ id }) => id}
            columns={[
              { head: "File", cell: ({ filename }) => filename },
              { head: "State", cell: ({ status }) => <State of={status} /> },
              { head: "Error", cell: ({ error }) => error ?? "" },
              { head: "Since", cell: ({ created_at }) => <Time at={created_at} /> },
            ]}
          />
        )}
      </Listed>
    </Panel>
  );
}
