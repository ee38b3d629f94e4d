/** The queues, and those that more than one function sends to. */
import type { QueueSpec } from "./spec.ts";

/** With the consumer's growing delays, what outlives six minutes of a database or a bucket that is down. */
const MAX_RECEIVES = 12;

export const QUEUES = [
  { name: "fetch-high", maxReceiveCount: MAX_RECEIVES },
  { name: "fetch-normal", maxReceiveCount: MAX_RECEIVES },
  { name: "fetch-low", maxReceiveCount: MAX_RECEIVES },
  // nothing listens: workers of slow hosts take from it
  { name: "fetch-shared", maxReceiveCount: MAX_RECEIVES },
  { name: "captures", maxReceiveCount: MAX_RECEIVES },
  { name: "embed-high", maxReceiveCount: MAX_RECEIVES },
  { name: "embed-normal", maxReceiveCount: MAX_RECEIVES },
  { name: "embed-low", maxReceiveCount: MAX_RECEIVES },
  { name: "render", maxReceiveCount: MAX_RECEIVES },
  // whoever asked waits no longer than half a minute
  { name: "media", maxReceiveCount: 2 },
  { name: "discover", maxReceiveCount: MAX_RECEIVES },
  { name: "discovered", maxReceiveCount: MAX_RECEIVES },
  // whoever asked has gone after a few seconds
  { name: "harvest", maxReceiveCount: 3 },
  { name: "progress", maxReceiveCount: MAX_RECEIVES },
  { name: "push", maxReceiveCount: MAX_RECEIVES },
  // an attempt whose sender is lost is made again once its lease lapses
  { name: "webhooks", maxReceiveCount: 3 },
  { name: "webhook-results", maxReceiveCount: MAX_RECEIVES },
  { name: "source-schedules", maxReceiveCount: MAX_RECEIVES },
  { name: "source-runs", maxReceiveCount: MAX_RECEIVES },
  { name: "exports", maxReceiveCount: MAX_RECEIVES },
  { name: "warc-runs", maxReceiveCount: MAX_RECEIVES },
  { name: "proxy-test", maxReceiveCount: 3 },
  { name: "live-pages", maxReceiveCount: 2 },
  // an order that could not be followed is given again a minute later
  { name: "engine-tasks", maxReceiveCount: 3 },
  { name: "engine-events", maxReceiveCount: MAX_RECEIVES },
  {
    name: "imports",
    maxReceiveCount: MAX_RECEIVES,
    objects: [".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz", ".wacz"].map((suffix) => ({
      prefix: "incoming/",
      suffix,
    })),
  },
] as const satisfies readonly QueueSpec[];

export const FETCH_QUEUES = ["fetch-high", "fetch-normal", "fetch-low"] as const;
export const EMBED_QUEUES = ["embed-high", "embed-normal", "embed-low"] as const;
/** Who claims URLs sends them to fetch, or to ingest where the crawl cache has them. */
export const CLAIM_QUEUES = [...FETCH_QUEUES, "captures"] as const;
