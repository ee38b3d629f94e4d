/**
 * What an installation has beside its rows and objects, made again from them: no back-up holds the state table, the
 * queues, the schedules or the vectors.
 */
import type { RowsWithoutSecrets } from "../../shared/backup/secrets.ts";
import { createTaskLeases } from "../../shared/crawl/fetch/task-lease.ts";
import { createHostStates } from "../../shared/crawl/politeness/host-state.ts";
import { createProxyStates, type SharedProxyConfig } from "../../shared/crawl/proxies/store.ts";
import { freeInterruptedWork } from "../../shared/crawl/recovery/restart.ts";
import { cancelJob } from "../../shared/crawl/submit/cancel-job.ts";
import { createJobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { embedderDescriptor } from "../../shared/knowledge/embedders/registry.ts";
import { compareStore } from "../../shared/knowledge/embedding/store-comparison.ts";
import { createVectorStore } from "../../shared/knowledge/vector-stores/registry.ts";
import { createStateTable } from "../../shared/platform/aws/state-table.ts";
import { createLogger, type Logger } from "../../shared/platform/observability/log.ts";
import type { Installation } from "./installation.ts";

export interface Finished {
  /** Jobs that were under way, and go on. */
  unfinishedJobs: number;
  /** Jobs that were under way with secrets that did not come along. */
  cancelledJobs: number;
  /** Chunks whose vectors are made again. */
  lostVectors: number;
  /** Why none were asked for. */
  vectorFault: string | undefined;
}

/** May be called again for the same rows. */
export async function finishRestore(
  installation: Installation,
  withoutSecrets: RowsWithoutSecrets | undefined,
): Promise<Finished> {
  const { sql, dynamo, queues, config } = installation;
  const flags = createJobFlags(dynamo, config.stateTable);
  const log = createLogger({ command: "restore" }, "error", (line) => process.stderr.write(`${line}\n`));
  const state = createStateTable(dynamo, config.stateTable);
  const proxies = createProxyStates(dynamo, config.stateTable);
  const configs = await sql<({ id: string } & SharedProxyConfig)[]>`
    select id, servers, rotation_strategy as rotation, is_active as active from proxy_configs`;
  for (const { id, ...shared } of configs) await proxies.share(id, shared);
  const [scheduled] = await sql`
    select from crawl_sources where schedule_cron is not null and deleted_at is null limit 1`;
  // whoever keeps the schedules compares them from now on
  if (scheduled !== undefined) await state.put("sources#schedules", { kept: true });
  const cancelled = await cancelHalfKnown({ sql, queues, flags, log }, withoutSecrets);
  await freeInterruptedWork(
    {
      ...{ sql, flags },
      leases: createTaskLeases(dynamo, config.stateTable),
      hosts: createHostStates(dynamo, config.stateTable),
    },
    new Set(),
  );
  const [open] = await sql<{ jobs: number }[]>`
    select count(*)::int as jobs from jobs where status in ('pending', 'running', 'embedding')`;
  // maintenance and sweeps look at what came
  await flags.markActive();
  return { unfinishedJobs: open?.jobs ?? 0, cancelledJobs: cancelled, ...(await askForVectors(installation, log)) };
}

/** A job would send what stands for its credentials to the site. */
async function cancelHalfKnown(
  dependencies: Parameters<typeof cancelJob>[0],
  withoutSecrets: RowsWithoutSecrets | undefined,
): Promise<number> {
  let cancelled = 0;
  for (const jobId of withoutSecrets?.get("jobs.settings") ?? [])
    if ((await cancelJob(dependencies, jobId)) === "cancelled") cancelled++;
  return cancelled;
}

async function askForVectors(
  { sql, queues, config }: Installation,
  log: Logger,
): Promise<Pick<Finished, "lostVectors" | "vectorFault">> {
  const descriptor = embedderDescriptor(config);
  if (descriptor === null) return { lostVectors: 0, vectorFault: "embeddings are switched off here" };
  try {
    const vectors = await createVectorStore(config, descriptor);
    const { lostChunks } = await compareStore(sql, vectors, descriptor, null, () => true, { send: { queues, log } });
    await vectors.close();
    return { lostVectors: lostChunks, vectorFault: undefined };
  } catch (error) {
    return { lostVectors: 0, vectorFault: error instanceof Error ? error.message : String(error) };
  }
}
