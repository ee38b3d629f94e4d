/** Who may use the API. */

import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ApiKey } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { SmallForm } from "../../parts/form.tsx";
import { Listed, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { State, Time } from "../../parts/text.tsx";

export function Keys() {
  const pages = usePages<ApiKey>("/api/v1/api-keys?limit=50");
  const [made, setMade] = useState<string>();
  return (
    <Panel title="API keys">
      <Listed pages={pages} empty="There is no key.">
        {(keys) => (
          <Table
            items={keys}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Key",
                cell: ({ name, prefix }) => (
                  <>
                    {name} <code>{prefix}…</code>
                  </>
                ),
              },
              { head: "May", cell: ({ scopes }) => scopes.join(", ") },
              { head: "A minute", cell: ({ rate_limit_rpm }) => rate_limit_rpm, isFigure: true },
              { head: "Expires", cell: ({ expires_at }) => (expires_at === null ? "never" : <Time at={expires_at} />) },
              { head: "State", cell: ({ is_active }) => <State of={is_active ? "active" : "revoked"} /> },
              {
                head: "Revoke",
                cell: ({ id, name, is_active }) =>
                  is_active ? (
                    <Confirm
                      label={`Revoke ${name}`}
                      question={`Revoke the key ${name}?`}
                      act={async () => {
                        await call(`/api/v1/api-keys/${encodeURIComponent(id)}`, { method: "DELETE" });
                        pages.reload();
                      }}
                    >
                      <p>It stops working at once, for everybody who has it, and does not come back.</p>
                    </Confirm>
                  ) : null,
              },
            ]}
          />
        )}
      </Listed>
      <SmallForm
        label="Create the key"
        fields={[
          { name: "name", label: "Name", isRequired: true },
          {
            name: "scope",
            label: "May",
            choices: [
              { value: "read", label: "read" },
              { value: "write", label: "read and write" },
              { value: "admin", label: "everything" },
            ],
          },
        ]}
        send={async ({ name, scope }) => {
          const { key } = await call<{ key: string }>("/api/v1/api-keys", { body: { name, scopes: [scope] } });
          setMade(key);
          pages.reload();
        }}
      />
      {made === undefined ? null : (
        <>
          <p role="status">This is the only time that the key is shown.</p>
          <Copyable name="Key" text={made} />
        </>
      )}
    </Panel>
  );
}
