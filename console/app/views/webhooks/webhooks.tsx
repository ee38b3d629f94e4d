/** Who is told what happens: `#/webhooks`, `#/webhooks/ID`. */

import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Webhook } from "../../api/types.ts";
import { usePages } from "../../api/use-api.ts";
import { Copyable } from "../../parts/copy.tsx";
import { SmallForm } from "../../parts/form.tsx";
import { Listed, Panel, View } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { State, Time } from "../../parts/text.tsx";
import { hrefOf, type Place } from "../../router.ts";
import { WebhookView } from "./webhook.tsx";

const EVENTS = ["crawl.completed", "crawl.failed", "crawl.cancelled", "crawl.progress", "page.changed"];

export function Webhooks({ place: { path } }: { place: Place }) {
  const id = path[1];
  return id === undefined ? <WebhookList /> : <WebhookView key={id} id={id} />;
}

function WebhookList() {
  const pages = usePages<Webhook>("/api/v1/webhooks?limit=50");
  const [events, setEvents] = useState<readonly string[]>(["crawl.completed", "crawl.failed"]);
  const [secret, setSecret] = useState<string>();
  return (
    <View title="Webhooks">
      <Listed pages={pages} empty="Nobody is told anything yet. Give the address of a receiver below.">
        {(webhooks) => (
          <Table
            items={webhooks}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Receiver",
                cell: ({ id, url, job_id }) => (
                  <>
                    <a href={hrefOf(["webhooks", id])} class="address">
                      {url}
                    </a>
                    {job_id === null ? null : (
                      <div>
                        of <a href={hrefOf(["jobs", job_id])}>a job</a>
                      </div>
                    )}
                  </>
                ),
              },
              { head: "Told of", cell: ({ events: told }) => told.join(", ") },
              {
                head: "State",
                cell: ({ is_active, stopped_reason }) => (
                  <>
                    <State of={is_active ? "active" : "stopped"} /> {stopped_reason ?? ""}
                  </>
                ),
              },
              { head: "Since", cell: ({ created_at }) => <Time at={created_at} /> },
            ]}
          />
        )}
      </Listed>
      <Panel title="New webhook">
        <SmallForm
          label="Create the webhook"
          fields={[{ name: "url", label: "Address of the receiver", isRequired: true }]}
          send={async ({ url }) => {
            const made = await call<{ secret: string }>("/api/v1/webhooks", { body: { url, events } });
            setSecret(made.secret);
            pages.reload();
          }}
        >
          <fieldset class="choices">
            <legend>Told of</legend>
            {EVENTS.map((event) => (
              <label class="check" key={event}>
                <input
                  type="checkbox"
                  checked={events.includes(event)}
                  onChange={({ currentTarget }) =>
                    setEvents((before) => [
                      ...before.filter((each) => each !== event),
                      ...(currentTarget.checked ? [event] : []),
                    ])
                  }
                />
                {event}
              </label>
            ))}
          </fieldset>
        </SmallForm>
        {secret === undefined ? null : (
          <>
            <p role="status">This is the only time that the secret is shown: what is sent is signed with it.</p>
            <Copyable name="Secret" text={secret} />
          </>
        )}
      </Panel>
    </View>
  );
}
