/**
 * What becomes of a run: pure decisions, of what it reports and of what was done before. Interventions come in the
 * order of the reference, each as often as it may: fewer workers, another way out, going on where it stood, and at
 * last a pause before the next try.
 */
import type { Verdict } from "./exit-codes.ts";
import type { CrawlStats } from "./run-files.ts";

export const INTERVENTIONS = ["fewer_workers", "rotated", "resumed", "backed_off"] as const;
export type Intervention = (typeof INTERVENTIONS)[number];

export interface Limits {
  monitored: boolean;
  stallMinutes: number;
  timeouts: number;
  httpFaults: number;
  adaptive: boolean;
  fewestWorkers: number;
  mostReductions: number;
  rotates: boolean;
  mostRotations: number;
  rotationMinutes: number;
  mostResumes: number;
  mostBackOffs: number;
  backOffMinutes: number;
}

/** What was done for a job before. */
export interface Done {
  counts: Record<Intervention, number>;
  /** null: never. */
  rotatedAt: Date | null;
}

export interface RunState {
  status: "starting" | "running" | "stopping";
  workers: number;
  /** It was asked for. */
  startedAt: Date;
  /** Its crawled count rose, or it began to run. */
  progressAt: Date;
  /** What it reports was written last; null: never. */
  reportedAt: Date | null;
  stats: CrawlStats | null;
  httpFaults: number;
  timeouts: number;
}

/** Minutes until a task must have begun to run. */
const START_MINUTES = 20;
/** Minutes without any report: whoever writes it has gone. */
const SILENT_MINUTES = 10;

const minutesSince = (at: Date, now: Date): number => (now.getTime() - at.getTime()) / 60_000;

/** @returns why the run has to end; undefined: it goes on */
export function reasonToStop(run: RunState, limits: Limits, now: Date): string | undefined {
  if (run.status === "stopping") return undefined;
  if (run.status === "starting")
    return minutesSince(run.startedAt, now) < START_MINUTES
      ? undefined
      : `its task did not begin within ${START_MINUTES} minutes`;
  if (minutesSince(run.reportedAt ?? run.startedAt, now) >= SILENT_MINUTES)
    return `nothing was heard of it for ${SILENT_MINUTES} minutes`;
  if (!limits.monitored) return undefined;
  if (run.httpFaults >= limits.httpFaults) return `${run.httpFaults} pages in a row failed`;
  if (run.timeouts >= limits.timeouts) return `${run.timeouts} pages in a row took too long`;
  // with nothing left to do it writes its ZIM file, which counts no pages
  const waits = run.stats === null || run.stats.pending === null || run.stats.pending > 0;
  return waits && minutesSince(run.progressAt, now) >= limits.stallMinutes
    ? `no page came for ${limits.stallMinutes} minutes`
    : undefined;
}

export type Next =
  | { what: "complete" }
  | { what: "fail" }
  | { what: "run"; by: Intervention; workers: number; notBefore: Date };

export interface Ended {
  verdict: Verdict;
  workers: number;
  /** Why it was stopped by us; null: it was not. */
  stopReason: string | null;
}

/** What follows a run that has ended. */
export function nextAfter({ verdict, workers, stopReason }: Ended, limits: Limits, done: Done, now: Date): Next {
  if (verdict === "succeeded" || verdict === "limited") return { what: "complete" };
  if (verdict === "refused") return { what: "fail" };
  const { counts } = done;
  const run = (by: Intervention, fewer = workers, notBefore = now): Next => ({
    what: "run",
    by,
    workers: fewer,
    notBefore,
  });
  // what ended from outside has no fault of its own that fewer workers would mend
  const troubled = limits.monitored && (stopReason !== null || verdict === "failed");
  if (troubled && limits.adaptive && workers > limits.fewestWorkers && counts.fewer_workers < limits.mostReductions)
    return run("fewer_workers", workers - 1);
  if (troubled && limits.rotates && counts.rotated < limits.mostRotations && mayRotate(done, limits, now))
    return run("rotated");
  if ((verdict === "interrupted" || troubled) && counts.resumed < limits.mostResumes) return run("resumed");
  if (counts.backed_off < limits.mostBackOffs) {
    const minutes = limits.backOffMinutes * 2 ** counts.backed_off;
    return run("backed_off", workers, new Date(now.getTime() + minutes * 60_000));
  }
  return { what: "fail" };
}

const mayRotate = ({ rotatedAt }: Done, { rotationMinutes }: Limits, now: Date): boolean =>
  rotatedAt === null || minutesSince(rotatedAt, now) >= rotationMinutes;

export type RunMode = "fresh" | "resume" | "consolidate" | "overwrite";

/** How a run begins, by what earlier ones of its job have left. */
export function runMode({
  earlierRuns,
  state,
  warcFiles,
  overwrites,
}: {
  earlierRuns: number;
  state: string | null;
  warcFiles: number;
  /** Somebody asked for another try, and the job throws away what there is. */
  overwrites: boolean;
}): RunMode {
  if (earlierRuns === 0) return "fresh";
  if (overwrites) return "overwrite";
  if (state !== null) return "resume";
  return warcFiles > 0 ? "consolidate" : "fresh";
}
