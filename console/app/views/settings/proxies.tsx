/** Proxies that a crawl may go through: each config names some, and how they take turns. */

import schemas from "strandline:request-schemas";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ProxyConfig, TestProxiesResponse, TestProxiesResponseResult } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { SchemaForm } from "../../forms/schema-form.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Does } from "../../parts/does.tsx";
import { Listed, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { State } from "../../parts/text.tsx";

export function Proxies() {
  const pages = usePages<ProxyConfig>("/api/v1/proxies?limit=50");
  return (
    <Panel title="Proxies">
      <Listed pages={pages} empty="Crawls go out directly. Name proxies below, and a crawl may use them.">
        {(proxies) => (
          <Table
            items={proxies}
            keyOf={({ id }) => id}
            columns={[
              { head: "Name", cell: ({ name }) => name },
              { head: "Servers", cell: ({ servers }) => servers.map(({ url }) => url).join(", ") },
              { head: "In turn", cell: ({ rotation_strategy }) => rotation_strategy },
              { head: "State", cell: ({ is_active }) => <State of={is_active ? "active" : "switched off"} /> },
              { head: "Test", cell: ({ id, name }) => <Test id={id} name={name} /> },
              {
                head: "Delete",
                cell: ({ id, name }) => (
                  <Confirm
                    label={`Delete ${name}`}
                    question={`Delete the proxy config ${name}?`}
                    act={async () => {
                      await call(`/api/v1/proxies/${encodeURIComponent(id)}`, { method: "DELETE" });
                      pages.reload();
                    }}
                  >
                    <p>Jobs that use it can make no further request, and none goes out directly instead.</p>
                  </Confirm>
                ),
              },
            ]}
          />
        )}
      </Listed>
      <details>
        <summary>New proxy config</summary>
        <SchemaForm
          schema={schemas.proxy}
          first={["name", "servers"]}
          words={{
            name: { label: "Name of the proxies" },
            servers: {
              label: "Servers",
              hint: 'JSON: [{"url": "http://proxy.example:3128", "username": "…", "password": "…"}]',
            },
          }}
          label="Create the proxy config"
          send={async (body) => {
            await call("/api/v1/proxies", { body });
            pages.reload();
          }}
        />
      </details>
    </Panel>
  );
}

function Test({ id, name }: { id: string; name: string }) {
  const [probes, setProbes] = useState<readonly TestProxiesResponseResult[]>([]);
  return (
    <>
      <Does
        label={`Test ${name}`}
        act={async () => {
          setProbes((await call<TestProxiesResponse>("/api/v1/proxies/test", { body: { proxy_id: id } })).results);
        }}
      >
        Test
      </Does>
      <div role="status">
        <ul>
          {probes.map(({ server, success, latency_ms, error }) => (
            <li key={server}>
              {server}: {success ? `${Math.round(latency_ms)} ms` : (error ?? "no answer")}
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}
