/** The parts of the API's answers that the console shows, as the OpenAPI document has them. */
import type { Job } from "../../../client/src/types.ts";

export type {
  ApiKey,
  ArchiveSearchResponse,
  ChangeList,
  Chunk,
  Collection,
  Config,
  Context,
  Crawl,
  CrawledPage,
  CrawlFrontier,
  Document,
  DocumentDetails,
  DocumentList,
  Domain,
  DomainRobot,
  DomainStat,
  DomainSummary,
  FailedJob,
  FailedJobList,
  Generation,
  GenerationDifference,
  Job,
  JobCounts,
  JobPageList,
  Package,
  PackageDetails,
  Proxy as ProxyConfig,
  Readiness,
  ResolveReplayResponse,
  SearchRequestFacet,
  SearchResponse,
  SearchResult,
  SectionList,
  SnapshotComparison,
  SnapshotTimeline,
  SnapshotTimelineSnapshot,
  Source,
  SourceDetails,
  Stats,
  TestProxiesResponse,
  TestProxiesResponseResult,
  Usage,
  Webhook,
  WebhookDelivery,
} from "../../../client/src/types.ts";

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
  has_more: boolean;
}

/** What the stream of a job and the job itself tell alike. */
export type JobProgress = Pick<
  Job,
  | "job_id"
  | "status"
  | "stop_reason"
  | "error"
  | "cancel_requested"
  | "counts"
  | "waits"
  | "started_at"
  | "completed_at"
>;
