/**
 * The declaration: every function with its routes, queues, schedules and limits, as plain data. The CDK stacks build
 * AWS resources from it and the local runtime wires the same handlers from it; neither knows a route or a queue that is
 * not named here.
 */
import { ADMINISTRATION } from "./topology/administration.ts";
import { ARCHIVE } from "./topology/archive.ts";
import { CRAWLING } from "./topology/crawling.ts";
import { FINDING } from "./topology/finding.ts";
import { KNOWLEDGE } from "./topology/knowledge.ts";
import { PROGRESS } from "./topology/progress.ts";
import { QUEUES } from "./topology/queues.ts";
import { RENDERING } from "./topology/rendering.ts";
import { RESULTS } from "./topology/results.ts";
import type { Topology } from "./topology/spec.ts";

export const TOPOLOGY: Topology = {
  queues: QUEUES,
  functions: [
    ...CRAWLING,
    ...RESULTS,
    ...PROGRESS,
    ...RENDERING,
    ...FINDING,
    ...KNOWLEDGE,
    ...ARCHIVE,
    ...ADMINISTRATION,
  ],
};
