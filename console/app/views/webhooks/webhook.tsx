/** One webhook, with what was sent and what the receiver answered. */

import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Webhook, WebhookDelivery } from "../../api/types.ts";
import { useApi, usePages } from "../../api/use-api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { Does } from "../../parts/does.tsx";
import { Fault, Listed, Panel, View } from "../../parts/page.tsx";
import { Preformatted } from "../../parts/preformatted.tsx";
import { Table } from "../../parts/table.tsx";
import { State, Time } from "../../parts/text.tsx";
import { goTo } from "../../router.ts";

export function WebhookView({ id }: { id: string }) {
  const path = `/api/v1/webhooks/${encodeURIComponent(id)}`;
  const webhook = useApi<Webhook>(path);
  const [secret, setSecret] = useState<string>();
  const deliveries = usePages<WebhookDelivery>(`${path}/deliveries?limit=50`);
  return (
    <View
      title="Webhook"
      actions={
        <>
          <Does
            act={async () => {
              await call(`${path}/test`, { method: "POST" });
              deliveries.reload();
            }}
          >
            Send a test
          </Does>
          <button type="button" onClick={deliveries.reload}>
            Look again
          </button>
          <Confirm
            label="Rotate the secret"
            question="Give this webhook another secret?"
            act={async () => {
              const { secret: made } = await call<{ secret: string }>(`${path}/rotate`, { body: {} });
              setSecret(made);
              webhook.reload();
            }}
          >
            <p>
              For a day both secrets sign what is sent, so that its receiver can be told in peace. Then the old one
              ends.
            </p>
          </Confirm>
          <Confirm
            label="Delete webhook"
            question="Delete this webhook?"
            act={async () => {
              await call(path, { method: "DELETE" });
              goTo(["webhooks"]);
            }}
          >
            <p>Its receiver is told nothing more, of what waits for it neither.</p>
          </Confirm>
        </>
      }
    >
      <Fault fault={webhook.fault} />
      {webhook.data === undefined ? null : (
        <p class="address">
          {webhook.data.url}, told of {webhook.data.events.join(", ")}
        </p>
      )}
      {secret === undefined ? null : (
        <Panel title="The new secret">
          <p role="status">This is the only time that the secret is shown.</p>
          <Copyable name="Secret" text={secret} />
        </Panel>
      )}
      <Panel title="Deliveries">
        <Listed pages={deliveries} empty="Nothing was sent yet. “Send a test” shows whether the receiver answers.">
          {(items) => (
            <Table
              items={items}
              keyOf={(delivery) => delivery.id}
              columns={[
                {
                  head: "Event",
                  cell: ({ event, body }) => (
                    <details>
                      <summary>{event}</summary>
                      <Preformatted>{body}</Preformatted>
                    </details>
                  ),
                },
                { head: "State", cell: ({ status }) => <State of={status} /> },
                {
                  head: "Tries",
                  cell: ({ attempts, max_attempts }) => `${attempts} of ${max_attempts}`,
                  isFigure: true,
                },
                {
                  head: "Answer",
                  cell: ({ response_status, response_body, error }) => (
                    <>
                      {response_status ?? ""} {error ?? ""}
                      {response_body ? <Preformatted>{response_body}</Preformatted> : null}
                    </>
                  ),
                },
                { head: "Since", cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  head: "Again",
                  cell: (delivery) => (
                    <Does
                      label={`Send again: ${delivery.event} of ${delivery.created_at}`}
                      act={async () => {
                        await call(`${path}/deliveries/${encodeURIComponent(delivery.id)}/redeliver`, {
                          method: "POST",
                        });
                        deliveries.reload();
                      }}
                    >
                      Send again
                    </Does>
                  ),
                },
              ]}
            />
          )}
        </Listed>
      </Panel>
    </View>
  );
}
