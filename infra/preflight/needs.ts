/** What a deployment asks of the account that it goes to, by its settings. */
import type { Settings } from "../settings.ts";
import { concurrencyLimit } from "../topology/spec.ts";
import { TOPOLOGY } from "../topology.ts";

export interface Needs {
  /** Executions that are reserved for functions of the deployment. */
  reserved: number;
  /** Executions at once that the account must allow. */
  executions: number;
  vpcs: number;
  /** vCPUs of tasks of Fargate that run all the time, or may. */
  fargateCpus: number;
  /** vCPUs of tasks of Fargate Spot, at the most. */
  spotCpus: number;
  /** vCPUs of machines with a GPU. */
  gpuCpus: number;
}

/** AWS keeps so many for functions that reserve none. */
const LEFT_UNRESERVED = 100;
/** What `size: small` is made for, and a new account has. */
const SMALL = 10;
/** vCPUs of each task, as its stack makes it. */
const TASK_CPUS = { crawl4ai: 2, zimit: 2, embedder: 4, reranker: 2, fetcher: 0.5 };
/** Of a g4dn.xlarge. */
const GPU_CPUS = 4;

export function needsOf(settings: Settings): Needs {
  const reserved =
    settings.size === "small"
      ? 0
      : TOPOLOGY.functions
          .filter(({ network }) => network === "private")
          .reduce((sum, spec) => sum + (concurrencyLimit(spec) ?? 0), 0);
  const tasks = [
    [settings.crawl4aiImage, TASK_CPUS.crawl4ai],
    [settings.zimitImage, TASK_CPUS.zimit],
    [settings.teiCompute === "gpu" ? undefined : settings.teiImage, TASK_CPUS.embedder],
    [settings.rerankImage, TASK_CPUS.reranker],
  ] as const;
  return {
    reserved,
    executions: reserved === 0 ? SMALL : reserved + LEFT_UNRESERVED,
    vpcs:
      1 +
      [settings.crawl4aiImage, settings.zimitImage, settings.fetcherBase].filter((image) => image !== undefined).length,
    fargateCpus: tasks.reduce((sum, [image, cpus]) => sum + (image === undefined ? 0 : cpus), 0),
    spotCpus: settings.fetchers === "fargate" ? settings.fetchersMost * TASK_CPUS.fetcher : 0,
    gpuCpus: settings.teiImage !== undefined && settings.teiCompute === "gpu" ? GPU_CPUS : 0,
  };
}
