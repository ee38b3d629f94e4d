/**
 * The sweep: rows are the truth and messages are hints, so what a lost message asked for is found in the rows and asked
 * for again. A marker says whether any job is unfinished; without it the database is left alone, and may pause.
 */
import { resumeRuns } from "../../archive/files/runs.ts";
import { resumeImports } from "../../archive/import/recovery.ts";
import { resumeExports } from "../../archive/wacz/exports.ts";
import { changeChunkSize } from "../../knowledge/embedding/chunk-size-change.ts";
import { embedQueue, sendEmbedTasks } from "../../knowledge/embedding/embed-task.ts";
import { changeModel, type EmbeddingModel } from "../../knowledge/embedding/model-change.ts";
import { outstandingChunks } from "../../knowledge/embedding/outstanding-chunks.ts";
import { inTransaction } from "../../platform/database/database.ts";
import { resumeDiscoveries } from "../discovery/lost-discoveries.ts";
import { MAX_SENDS, renewTask } from "../frontier/claim-lease.ts";
import { endLateJob, lateJobs } from "../frontier/deadline.ts";
import { dispatch } from "../frontier/dispatch.ts";
import { endLostUrls, giveUpTask, resumeJob } from "../frontier/give-up.ts";
import type { JobDependencies } from "../jobs/dependencies.ts";
import { lockJob, peekJob, settleJob } from "../jobs/lifecycle.ts";
import { hasNoListener, jobsWithoutListener } from "../results/listeners.ts";
import type { Priority } from "../settings/job-settings.ts";
import { retellSchedules } from "../sources/schedule-source.ts";
import { cancelJob } from "../submit/cancel-job.ts";
import { SWEEP } from "./metrics.ts";
import { type RedriveDependencies, redriveLetters } from "./redrive.ts";
import {
  cancelledTasks,
  isIdle,
  jobsWithoutVectors,
  type LapsedTask,
  lapsedTasks,
  stalledEmbeddings,
  stalledJobs,
} from "./sweep-queries.ts";

/** Longest that a job takes from setting the marker to its commit, and that maintenance takes to see it. */
const MARKER_GRACE_MS = 360_000;

export interface Swept {
  /** False where the marker says that no job is unfinished. */
  awake: boolean;
  renewedTasks: number;
  endedUrls: number;
  resumedJobs: number;
  resentChunks: number;
  /** Discovery jobs that were sent again. */
  resentDiscoveries: number;
  /** Slices and batches of WARC imports. */
  resentImports: number;
  resentExports: number;
  /** Slices of work on the WARC files. */
  resentWarcRuns: number;
  /** Their time was up. */
  lateJobs: number;
  /** Nobody listened to them any more. */
  jobsWithoutListener: number;
  redrivenLetters: number;
  /** Sources whose schedules were told of them again. */
  retoldSchedules: number;
  /** They completed, and their vectors follow. */
  jobsBeforeVectors: number;
  /** Chunks that want a vector of the model that is configured now. */
  outdatedChunks: number;
  /** Documents that were cut to another chunk size. */
  cutDocuments: number;
  /** Names of the steps that could not be done; why is in the log. */
  failedSteps: string[];
}

type SweepDependencies = JobDependencies &
  RedriveDependencies & {
    /** Messages of a queue, those included that are in some worker's hands or wait for their time. */
    messagesIn(queue: string): Promise<number>;
    /** The model that chunks are embedded with; null where embeddings are switched off. */
    embeddingModel: (EmbeddingModel & { maxTokens: number }) | null;
  };

/**
 * One kind of lost work.
 * @param hasTime asked before each job and task
 */
type Step = (dependencies: SweepDependencies, swept: Swept, hasTime: () => boolean) => Promise<void>;

const STEPS: Readonly<Record<string, Step>> = {
  async "unwatched jobs"(dependencies, swept, hasTime) {
    for (const jobId of await jobsWithoutListener(dependencies.sql)) {
      if (!hasTime()) break;
      await apart(dependencies, jobId, async () => {
        const ended = await cancelJob(dependencies, jobId, (tx) => hasNoListener(tx, jobId));
        if (ended === "cancelled") swept.jobsWithoutListener++;
      });
    }
  },
  async "late jobs"(dependencies, swept, hasTime) {
    for (const jobId of await lateJobs(dependencies.sql)) {
      if (!hasTime()) break;
      await apart(dependencies, jobId, () => endLateJob(dependencies, jobId));
      swept.lateJobs++;
    }
  },
  async "lapsed tasks"(dependencies, swept, hasTime) {
    for (const lapsed of await lapsedTasks(dependencies.sql)) {
      if (!hasTime()) break;
      await apart(dependencies, lapsed.jobId, async () => {
        if (lapsed.sends >= MAX_SENDS) {
          swept.endedUrls += await giveUpTask(dependencies, lapsed.jobId, lapsed.taskId);
        } else if (await sendAgain(dependencies, lapsed)) swept.renewedTasks++;
      });
    }
  },
  async "dead letters"(dependencies, swept, hasTime) {
    const letters = await redriveLetters(dependencies, hasTime);
    swept.redrivenLetters = letters.redriven;
    swept.endedUrls += letters.endedUrls;
  },
  async "cancelled tasks"(dependencies, swept, hasTime) {
    for (const { jobId, taskId } of await cancelledTasks(dependencies.sql)) {
      if (!hasTime()) break;
      await apart(dependencies, jobId, async () => {
        // who cancelled it may have ended before fetch could know of it
        await dependencies.flags.markCancelled(jobId);
        swept.endedUrls += await endLostUrls(dependencies, jobId, taskId, null);
      });
    }
  },
  async "stalled jobs"(dependencies, swept, hasTime) {
    for (const jobId of await stalledJobs(dependencies.sql)) {
      if (!hasTime()) break;
      await apart(dependencies, jobId, () => resumeJob(dependencies, jobId));
      swept.resumedJobs++;
    }
  },
  async "jobs without vectors"(dependencies, swept, hasTime) {
    for (const jobId of await jobsWithoutVectors(dependencies.sql)) {
      if (!hasTime()) break;
      await apart(dependencies, jobId, async () => {
        await inTransaction(dependencies.sql, (tx) => settleJob(tx, jobId, dependencies.log, { withoutVectors: true }));
        dependencies.log.warn("a job completes before its vectors, which follow", { job_id: jobId });
        swept.jobsBeforeVectors++;
      });
    }
  },
  async "vectors of another model"(dependencies, swept, hasTime) {
    const { embeddingModel } = dependencies;
    if (embeddingModel !== null) swept.outdatedChunks = await changeModel(dependencies.sql, embeddingModel, hasTime);
  },
  async "another chunk size"(dependencies, swept, hasTime) {
    const maxTokens = dependencies.embeddingModel?.maxTokens ?? null;
    swept.cutDocuments = await changeChunkSize({ ...dependencies, maxTokens }, hasTime);
  },
  async "stalled embeddings"(dependencies, swept, hasTime) {
    const waiting = new Map<Priority, number>();
    for (const { id, priority, silent } of await stalledEmbeddings(dependencies.sql)) {
      if (!hasTime()) break;
      if (!waiting.has(priority)) waiting.set(priority, await dependencies.messagesIn(embedQueue(priority)));
      // while messages wait, one of them may be this job's
      if (!silent && waiting.get(priority) !== 0) continue;
      await apart(dependencies, id, async () => {
        swept.resentChunks += await resendChunks(dependencies, id);
      });
    }
  },
  async imports(dependencies, swept) {
    swept.resentImports = await resumeImports(dependencies);
  },
  async exports(dependencies, swept) {
    swept.resentExports = await resumeExports(dependencies);
  },
  async "warc runs"(dependencies, swept) {
    swept.resentWarcRuns = await resumeRuns(dependencies);
  },
  async "source schedules"(dependencies, swept) {
    swept.retoldSchedules = await retellSchedules(dependencies);
  },
  async discoveries(dependencies, swept, hasTime) {
    const { resent } = await resumeDiscoveries(dependencies, hasTime);
    swept.resentDiscoveries = resent;
  },
};

/** @param remainingMs how long the sweep may still take: it stops early, and the next one goes on */
export async function sweep(
  dependencies: SweepDependencies,
  now: number,
  remainingMs: () => number = () => Number.POSITIVE_INFINITY,
): Promise<Swept> {
  const { sql, flags, log } = dependencies;
  const swept: Swept = {
    awake: false,
    renewedTasks: 0,
    endedUrls: 0,
    resumedJobs: 0,
    resentChunks: 0,
    resentDiscoveries: 0,
    resentImports: 0,
    resentExports: 0,
    resentWarcRuns: 0,
    lateJobs: 0,
    jobsWithoutListener: 0,
    redrivenLetters: 0,
    retoldSchedules: 0,
    jobsBeforeVectors: 0,
    outdatedChunks: 0,
    cutDocuments: 0,
    failedSteps: [],
  };
  const since = await flags.activeSince();
  if (since === undefined) return swept;
  swept.awake = true;
  const hasTime = () => remainingMs() > 10_000;
  for (const [name, step] of Object.entries(STEPS)) {
    if (!hasTime()) break;
    try {
      await step(dependencies, swept, hasTime);
    } catch (error) {
      log.error("the sweep could not do one of its steps: the next one tries again", { error, step: name });
      swept.failedSteps.push(name);
    }
  }
  const mayRest = swept.failedSteps.length === 0 && now - since > MARKER_GRACE_MS;
  if (mayRest && (await isIdle(sql))) await flags.clearActive(since);
  const values = {
    renewed_tasks: swept.renewedTasks,
    ended_urls: swept.endedUrls,
    resumed_jobs: swept.resumedJobs,
    resent_chunks: swept.resentChunks,
    redriven_letters: swept.redrivenLetters,
  };
  log.measure("swept", { ...swept, ...SWEEP.fields({}, values, now) });
  return swept;
}

/** One job's fault must not keep the sweep from the others. */
async function apart({ log }: JobDependencies, jobId: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error("the sweep could not go on with a job: the next one tries again", { error, job_id: jobId });
  }
}

async function sendAgain(dependencies: JobDependencies, { jobId, taskId }: LapsedTask): Promise<boolean> {
  const claimed = await inTransaction(dependencies.sql, async (tx) => {
    const job = await peekJob(tx, jobId);
    return job && (await renewTask(tx, job, taskId));
  });
  if (claimed === undefined) return false;
  await dispatch(dependencies, [claimed]);
  return true;
}

/** @returns how many chunks were sent again */
async function resendChunks(dependencies: JobDependencies, jobId: string): Promise<number> {
  const { chunkIds, priority } = await inTransaction(dependencies.sql, async (tx) => {
    const job = await lockJob(tx, jobId);
    if (job === undefined) return { chunkIds: [], priority: "normal" as const };
    const outstanding = await outstandingChunks(tx, job.generationId);
    await tx`update jobs set updated_at = now() where id = ${jobId}`;
    if (outstanding.length === 0) {
      // chunks may go with their documents, while they wait
      dependencies.log.warn("no chunk of the job waits for its vector any more", { job_id: jobId });
      await tx`update jobs set unembedded_chunks = 0 where id = ${jobId}`;
      await settleJob(tx, jobId, dependencies.log);
    }
    return { chunkIds: outstanding, priority: job.priority };
  });
  if (chunkIds.length > 0) await sendEmbedTasks(dependencies, { jobId, priority }, chunkIds);
  return chunkIds.length;
}
