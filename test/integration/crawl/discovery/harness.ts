/** The worker of discovery jobs on real objects and state, against sites on this machine. */
import { randomUUID } from "node:crypto";
import { discoverDependencies } from "../../../../functions/discover/dependencies.ts";
import type { DiscoveredUrl } from "../../../../shared/crawl/discovery/collector.ts";
import { type DiscoverDependencies, discover } from "../../../../shared/crawl/discovery/discover.ts";
import { readDiscovery } from "../../../../shared/crawl/discovery/result.ts";
import {
  type Discovered,
  type DiscoveryTask,
  discoveredSchema,
  discoveryTaskSchema,
} from "../../../../shared/crawl/discovery/task.ts";
import { createHostStates } from "../../../../shared/crawl/politeness/host-state.ts";
import { type Clock, systemClock } from "../../../../shared/platform/clock.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { type TestAws, testAwsWithoutSqs } from "../../../services/index.ts";

export type Ended = Extract<Discovered, { event: "ended" }>;

export interface Found extends Ended {
  urls: DiscoveredUrl[];
  /** Codes of the notes, with the path of their source. */
  noted: string[];
}

export interface DiscoveryHarness {
  aws: TestAws;
  dependencies: DiscoverDependencies;
  logged: string[];
  task(domain: string, task?: Partial<DiscoveryTask>): DiscoveryTask;
  /** Runs one job. */
  find(domain: string, task?: Partial<DiscoveryTask>, remainingMs?: number): Promise<Found>;
}

/**
 * @param settings environment variables;
 * @param clock of the politeness; the system's where it is not given
 */
export async function discoveryHarness(
  settings: Record<string, string> = {},
  clock: Clock = systemClock,
): Promise<DiscoveryHarness> {
  const aws = await testAwsWithoutSqs();
  const config = loadConfig({
    ...aws.env,
    ACCESS__ALLOW_HOSTS: "127.0.0.1,localhost",
    RATE_LIMIT__DEFAULT_RPS: "1000",
    ...settings,
  });
  const logged: string[] = [];
  const built = { ...discoverDependencies(config, aws), queues: aws.queues };
  const dependencies = {
    ...built,
    commonCrawl: { ...built.commonCrawl, rps: 1000 },
    clock,
    hosts: createHostStates(aws.dynamo, aws.stateTable, clock.now),
  };
  const log = createLogger({}, "debug", (line) => logged.push(line));
  const harness: DiscoveryHarness = {
    aws,
    dependencies,
    logged,
    task: (domain, task = {}) =>
      discoveryTaskSchema.parse({
        jobId: randomUUID(),
        domain,
        sources: ["sitemap"],
        pattern: null,
        maxUrls: 500,
        keywords: [],
        scoreThreshold: 0,
        ...task,
      }),
    async find(domain, task, remainingMs = 300_000) {
      const until = clock.now() + remainingMs;
      await discover(dependencies, harness.task(domain, task), { remainingMs: () => until - clock.now(), log });
      const messages: Discovered[] = [];
      while (messages.length < 2) {
        messages.push(...(await aws.receive("discovered", 20)).map((message) => discoveredSchema.parse(message)));
      }
      const ended = messages.find((message) => message.event === "ended") as Ended;
      const { resultKey } = ended;
      const urls =
        resultKey === null ? [] : await readDiscovery(dependencies.objects, resultKey, { offset: 0, limit: 100_000 });
      return { ...ended, urls: urls ?? [], noted: ended.notes.map(({ source, code }) => `${code} ${pathOf(source)}`) };
    },
  };
  return harness;
}

const pathOf = (source: string): string => (URL.canParse(source) ? new URL(source).pathname : source);
