/** One source: when it is crawled next, how the last crawls went. */

import schemas from "strandline:request-schemas";
import { call } from "../../api/client.ts";
import type { SourceDetails } from "../../api/types.ts";
import { useApi } from "../../api/use-api.ts";
import { filledFrom, requestOf } from "../../forms/schema.ts";
import { SchemaForm } from "../../forms/schema-form.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Does } from "../../parts/does.tsx";
import { Empty, Fault, Loading, Panel, View } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { LiveLink, number, State, Time } from "../../parts/text.tsx";
import { goTo, hrefOf } from "../../router.ts";
import { FIRST, WORDS } from "./words.ts";

const EVERY_MS = 5000;
const schema = schemas.source;

export function SourceView({ id }: { id: string }) {
  const path = `/api/v1/sources/${encodeURIComponent(id)}`;
  const { data: source, fault, reload } = useApi<SourceDetails>(path, EVERY_MS);
  // all of it: what a change leaves out goes back to its default
  const change = async (request: Record<string, unknown>): Promise<void> => {
    await call(path, { method: "PUT", body: request });
    reload();
  };
  return (
    <View
      title={source?.name ?? "Source"}
      actions={
        <>
          <Does
            act={async () => {
              const { job_id } = await call<{ job_id: string }>(`${path}/trigger`, { method: "POST" });
              goTo(["jobs", job_id]);
            }}
          >
            Crawl now
          </Does>
          {source === undefined ? null : (
            <Does
              act={() =>
                change({ ...requestOf(schema, filledFrom(schema, { ...source })), is_active: !source.is_active })
              }
            >
              {source.is_active ? "Pause" : "Resume"}
            </Does>
          )}
          <Confirm
            label="Delete source"
            question="Delete this source?"
            act={async () => {
              await call(path, { method: "DELETE" });
              goTo(["sources"]);
            }}
          >
            <p>It is crawled no more. Its jobs, and what they have crawled, stay.</p>
          </Confirm>
        </>
      }
    >
      <Fault fault={fault} />
      {source === undefined ? fault === undefined ? <Loading /> : null : <Details source={source} />}
      {source === undefined ? null : (
        <Panel title="Change it">
          <SchemaForm
            key={source.id}
            schema={schema}
            first={FIRST}
            words={WORDS}
            without={["is_active"]}
            start={{ ...source }}
            label="Save the source"
            send={(request) => change({ ...request, is_active: source.is_active })}
          />
        </Panel>
      )}
    </View>
  );
}

function Details({ source }: { source: SourceDetails }) {
  const { url, type, schedule_cron, time_zone, is_active, revisit, revisit_hours, last_error, next_runs, runs } =
    source;
  return (
    <>
      <Panel title="Schedule" aside={<State of={is_active ? "active" : "paused"} />}>
        <p>
          {type}: <LiveLink url={url} />
          {schedule_cron === null ? (
            ", crawled when somebody asks."
          ) : (
            <>
              , by <code>{schedule_cron}</code> in {time_zone}.
            </>
          )}
        </p>
        {revisit === null ? null : (
          <p>
            At those of its times that are due: every {revisit_hours ?? revisit.shortest_hours} hours now, between{" "}
            {revisit.shortest_hours} and {revisit.longest_hours} as pages change.
          </p>
        )}
        {last_error === null ? null : <p class="fault">{last_error}</p>}
        {next_runs.length === 0 ? null : (
          <ol>
            {next_runs.map((at) => (
              <li key={at}>
                <Time at={at} />
              </li>
            ))}
          </ol>
        )}
      </Panel>
      <Panel title="Last crawls">
        {runs.length === 0 ? (
          <Empty>It was never crawled. “Crawl now” does.</Empty>
        ) : (
          <Table
            items={runs}
            keyOf={({ job_id }) => job_id}
            columns={[
              {
                head: "Begun",
                cell: ({ job_id, created_at }) => (
                  <a href={hrefOf(["jobs", job_id])}>
                    <Time at={created_at} />
                  </a>
                ),
              },
              { head: "State", cell: ({ status }) => <State of={status} /> },
              { head: "Pages", cell: ({ counts }) => number(counts.crawled), isFigure: true },
              { head: "Failed", cell: ({ counts }) => number(counts.failed), isFigure: true },
              { head: "Error", cell: ({ error }) => error ?? "" },
            ]}
          />
        )}
      </Panel>
    </>
  );
}
