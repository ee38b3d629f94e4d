/** Generated from the OpenAPI document by client/generate.ts. */

export type AddDocumentRequest = {
  url?: string | null;
  title?: string | null;
  content?: string | null;
  content_base64?: string | null;
  upload_id?: string | null;
  content_type?: string | null;
  filename?: string | null;
  language?: string | null;
  languages?: string[] | null;
  collection_id?: string | null;
  tags?: string[] | null;
  metadata?: Record<string, unknown> | null;
};
export type AddDocumentResponse = {
  document_id: string;
  url: string;
  title: string | null;
  language: string;
  chunks: number;
  outcome: AddDocumentResponseOutcome;
  job_id: string | null;
};
export type AddDocumentResponseOutcome = "created" | "updated" | "unchanged";
export type AddDocumentsRequest = { documents: (AddDocumentRequest | unknown | null)[] };
export type AddDocumentsResponse = {
  items: (AddDocumentResponse | AddDocumentsResponseFailedItem)[];
  stored: number;
  failed: number;
};
export type AddDocumentsResponseFailedItem = {
  outcome: "failed";
  status: number;
  code: string;
  error: string;
  details?: Record<string, unknown>;
};
export type AdminSource = {
  code: string;
  name: string;
  baseUrl: string | null;
  description: string | null;
  nameTemplate: string;
  seeds: string[];
  entryPages: AdminSourceEntryPages;
  engine: AdminSourceEngine;
  passthroughArgs: string[];
  toolOptions: Record<string, unknown>;
  scheduleHint: string | null;
  enabled: boolean;
  reserved: boolean;
  createdAt: string;
  updatedAt: string;
};
export type AdminSourceEngine = "native" | "zimit";
export type AdminSourceEntryPages = { en?: string; fr?: string };
export type AdminSourceList = { items: AdminSource[] };
export type AdminSourceRequest = {
  code: string;
  name: string;
  baseUrl?: string | null;
  description?: string | null;
  nameTemplate: string;
  seeds: string[];
  entryPages?: AdminSourceRequestEntryPages;
  engine?: AdminSourceEngine;
  passthroughArgs?: string[];
  toolOptions?: Record<string, unknown>;
  scheduleHint?: string | null;
  enabled?: boolean;
};
export type AdminSourceRequestEntryPages = { en?: string; fr?: string };
export type ApiKey = {
  id: string;
  prefix: string;
  name: string;
  scopes: ApiKeyScope[];
  rate_limit_rpm: number;
  collections: string[] | null;
  jobs_per_day: number | null;
  jobs_today: number;
  pages_per_day: number | null;
  pages_today: number;
  max_stored_bytes: number | null;
  stored_bytes: number;
  created_at: string;
  expires_at: string | null;
  is_active: boolean;
};
export type ApiKeyList = { items: ApiKey[]; next_cursor: string | null; has_more: boolean };
export type ApiKeyScope = "read" | "write" | "admin";
export type ArchiveErrorResponse = {
  error: string;
  code: string;
  detail: string;
  details?: Record<string, unknown>;
  request_id: string;
};
export type ArchiveHealth = { status: ArchiveHealthStatus; checks: ArchiveHealthChecks };
export type ArchiveHealthChecks = {
  db: ArchiveHealthStatus;
  jobs?: Record<string, number>;
  snapshots?: ArchiveHealthChecksSnapshots;
};
export type ArchiveHealthChecksSnapshots = { total: number };
export type ArchiveHealthStatus = "ok" | "error";
export type ArchiveJob = {
  id: number;
  sourceCode: string;
  sourceName: string;
  name: string;
  engine: string;
  status: ArchiveJobStatus;
  error: string | null;
  retryCount: number;
  createdAt: string;
  queuedAt: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  cleanupStatus: string;
  cleanedAt: string | null;
  crawlerExitCode: number | null;
  crawlerStatus: string | null;
  warcFileCount: number;
  warcBytesTotal: number;
  indexedPageCount: number;
  storageScannedAt: string | null;
  crawlerStage: string | null;
  outputDir: string;
  pagesCrawled: number;
  pagesTotal: number;
  pagesFailed: number;
  outputBytesTotal: number;
  finalZimPath: string | null;
  combinedLogPath: string | null;
  stateFilePath: string | null;
  config: ArchiveJobConfig | null;
  lastStats: Record<string, unknown> | null;
};
export type ArchiveJobConfig = {
  seeds: string[];
  zimit_passthrough_args: string[];
  tool_options: Record<string, unknown>;
};
export type ArchiveJobList = { items: ArchiveJobSummary[]; total: number; limit: number; offset: number };
export type ArchiveJobSnapshot = {
  id: number;
  url: string;
  captureTimestamp: string;
  statusCode: number;
  language: string | null;
  title: string | null;
};
export type ArchiveJobStatus =
  | "queued"
  | "running"
  | "retryable"
  | "failed"
  | "completed"
  | "indexing"
  | "indexed"
  | "index_failed";
export type ArchiveJobSummary = {
  id: number;
  sourceCode: string;
  sourceName: string;
  name: string;
  engine: string;
  status: ArchiveJobStatus;
  error: string | null;
  retryCount: number;
  createdAt: string;
  queuedAt: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  cleanupStatus: string;
  cleanedAt: string | null;
  crawlerExitCode: number | null;
  crawlerStatus: string | null;
  warcFileCount: number;
  warcBytesTotal: number;
  indexedPageCount: number;
  storageScannedAt: string | null;
};
export type ArchiveSearchResponse = { results: ArchiveSearchResult[]; total: number; page: number; pageSize: number };
export type ArchiveSearchResult = {
  id: number;
  title: string | null;
  sourceCode: string;
  sourceName: string;
  language: string | null;
  captureDate: string;
  captureTimestamp: string;
  jobId: number;
  originalUrl: string;
  snippet: string | null;
  rawSnapshotUrl: string;
  pageSnapshotsCount: number | null;
  browseUrl: string | null;
};
export type ArchiveSource = {
  sourceCode: string;
  sourceName: string;
  baseUrl: string | null;
  description: string | null;
  recordCount: number;
  pageCount: number;
  firstCapture: string;
  lastCapture: string;
  latestRecordId: number | null;
  entryRecordId: number | null;
  entryBrowseUrl: string | null;
  entryPreviewUrl: string | null;
};
export type ArchiveStats = {
  snapshotsTotal: number;
  pagesTotal: number;
  sourcesTotal: number;
  latestCaptureDate: string | null;
  latestCaptureAgeDays: number | null;
};
export type ArchiveUsage = {
  enabled: boolean;
  windowDays: number;
  totals: ArchiveUsageTotals;
  daily: ArchiveUsageDaily[];
};
export type ArchiveUsageDaily = {
  date: string;
  searchRequests: number;
  snapshotDetailViews: number;
  rawSnapshotViews: number;
  reportSubmissions: number;
};
export type ArchiveUsageTotals = {
  searchRequests: number;
  snapshotDetailViews: number;
  rawSnapshotViews: number;
  reportSubmissions: number;
};
export type BatchedJob = {
  url: string;
  job_id: string | null;
  status: JobStatus;
  message: string;
  code: string | null;
};
export type BlockDomainRequest = { reason?: string };
export type BuildContextRequest = {
  query: string;
  collection_ids?: string[] | null;
  domains?: string[] | null;
  languages?: string[] | null;
  source_types?: DocumentSource[] | null;
  date_from?: string | null;
  date_to?: string | null;
  url_prefix?: string | null;
  tag_ids?: string[] | null;
  tags?: string[] | null;
  tag_match?: SearchRequestTagMatch | null;
  min_score?: number;
  use_reranker?: boolean;
  max_tokens?: number;
};
export type CacheStats = {
  crawl: CacheStatsCrawl;
  embeddings: CacheStatsEmbeddings;
  robots: CacheStatsQuery;
  query: CacheStatsQuery;
};
export type CacheStatsCrawl = { hits: number; misses: number; ttl_s: number; cleared_at: string | null };
export type CacheStatsEmbeddings = {
  hits: number;
  misses: number;
  ttl_s: number;
  entries: number;
  entries_estimated: boolean;
  bytes: number;
};
export type CacheStatsQuery = { ttl_s: number };
export type CacheUse = "use" | "bypass";
export type Change = {
  changeId: number;
  changeType: ChangeChangeType;
  summary: string;
  highNoise: boolean;
  diffAvailable: boolean;
  sourceCode: string;
  sourceName: string;
  normalizedUrlGroup: string;
  fromSnapshotId: number | null;
  toSnapshotId: number;
  fromCaptureTimestamp: string | null;
  toCaptureTimestamp: string;
  fromJobId: number | null;
  toJobId: number;
  addedSections: number | null;
  removedSections: number | null;
  changedSections: number | null;
  addedLines: number | null;
  removedLines: number | null;
  changeRatio: number | null;
};
export type ChangeChangeType = "new_page" | "updated" | "unchanged" | "error";
export type ChangeChunkSizeRequest = { chunk_size?: number | null; paused?: boolean };
export type ChangeEmbeddingModelRequest = { paused?: boolean; serving?: ChangeEmbeddingModelRequestServing };
export type ChangeEmbeddingModelRequestServing = { model: string; dimension: number };
export type ChangeList = { enabled: boolean; total: number; page: number; pageSize: number; results: Change[] };
export type Chunk = {
  id: string;
  chunk_index: number;
  content: string;
  start_char: number;
  end_char: number;
  token_count: number;
  section_header: string | null;
  section: number | null;
  content_type: string;
  embedding_model: string | null;
};
export type ChunkList = { items: Chunk[]; next_cursor: string | null; has_more: boolean };
export type ChunkSize = {
  chunk_size: number | null;
  state: ChunkSizeState;
  paused: boolean;
  changed_at: string;
  documents: number;
  uncut: number;
  chunks: number;
  waiting: number;
};
export type ChunkSizeList = { items: ChunkSize[] };
export type ChunkSizeState = "serving" | "coming" | "leaving";
export type Citation = {
  number: number;
  document_id: string;
  chunk_ids: string[];
  url: string;
  title: string | null;
  section_header: string | null;
  section_position: number | null;
  captured_at: string;
  replay_url: string | null;
  text: string;
  start_char: number;
  end_char: number;
  is_cut: boolean;
  reason: CitationReason;
};
export type CitationReason = {
  rank: number;
  score: number;
  source: SearchResultSource;
  vector_rank: number | null;
  keyword_rank: number | null;
  matched_words: string[];
  joined: number;
  duplicates: number;
};
export type CleanUpArchiveJobRequest = { mode?: "temp"; dryRun?: boolean };
export type CleanUpArchiveJobResponse = { job: ArchiveJob; files: number; bytes: number; dryRun: boolean };
export type CleanWarcRun = { kind: "clean"; dryRun?: boolean };
export type ClearCrawlCacheResponse = { cleared: string[]; cleared_at: string; message: string };
export type ClickAction = { type: "click"; selector: string };
export type Collection = {
  id: string;
  name: string;
  description: string | null;
  defaults: CollectionDefaults;
  documents: number;
  created_at: string;
  updated_at: string;
};
export type CollectionDefaults = {
  chunk_size: number | null;
  chunk_overlap: number | null;
  min_chunk_size: number | null;
  languages: string[] | null;
  language: string | null;
};
export type CollectionList = { items: Collection[]; next_cursor: string | null; has_more: boolean };
export type ComputeChangesRequest = { source?: string | null };
export type ComputeChangesResponse = { pages: number | null };
export type Config = {
  id: string;
  name: string;
  max_depth: 0;
  extraction_strategy: "markdown";
  chunking_strategy: "sliding_window";
  rate_limit_rps: number | null;
  respect_robots_txt?: boolean;
  headers?: Record<string, string>;
  chunk_size?: number;
  chunk_overlap?: number;
  min_chunk_size?: number;
  page_timeout_ms: number | null;
  max_page_size_mb?: number;
  max_redirects?: number;
  languages?: string[];
  session_ids?: SessionIdHandling;
  ignore_parameters?: string[];
  render?: RenderMode;
  pdf?: PdfHandling;
  wait_for: string | null;
  viewport: Viewport | null;
  mobile?: boolean;
  actions?: (WaitAction | WaitForAction | ClickAction | TypeAction | ScrollAction)[];
  cookies?: CookieOption[];
  session?: boolean;
  include_selectors?: string[];
  exclude_selectors?: string[];
  only_main_content?: boolean;
  proxy_id: string | null;
  created_at: string;
  updated_at: string;
};
export type ConfigList = { items: Config[]; next_cursor: string | null; has_more: boolean };
export type ConsolidateWarcRun = { kind: "consolidate" };
export type Context = {
  context: string;
  tokens: number;
  citations: Citation[];
  left_out: number;
  missing_sides: MissingSide[];
};
export type CookieOption = { host: string; name: string; value: string };
export type CountArchiveJobsResponse = { counts: Record<string, number> };
export type Crawl = {
  job_id: string;
  kind: JobKind;
  status: JobStatus;
  stop_reason: string | null;
  error: string | null;
  priority: JobPriority;
  collection_id: string | null;
  cancel_requested: boolean;
  waits: JobWait[];
  counts: JobCounts;
  settings: JobSettings;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  run: CrawlRun | null;
  frontier: CrawlFrontier | null;
  errors: CrawlError[];
  rendering: CrawlRendering | null;
  dead_letters: CrawlDeadLetter[];
  results: CrawledUrlList;
};
export type CrawlBatchRequest = {
  urls: string[];
  cache?: CacheUse;
  restore_deleted?: boolean;
  config_id?: string | null;
  config?: CrawlOptions | null;
  collection_id?: string | null;
  tags?: string[] | null;
  priority?: JobPriority;
  webhook_url?: string | null;
  webhook_headers?: Record<string, string> | null;
  webhook_secret?: string | null;
  webhook_events?: WebhookEvent[] | null;
};
export type CrawlBatchResponse = { jobs: BatchedJob[]; total_submitted: number; failed_count: number };
export type CrawlDeadLetter = {
  id: string;
  queue: string;
  state: CrawlDeadLetterState;
  redrives: number;
  redrive_at: string | null;
  error_code: string | null;
  created_at: string;
};
export type CrawlDeadLetterState = "waiting" | "sent" | "recovered" | "ended";
export type CrawlError = { code: string; count: number };
export type CrawlFrontier = { next: CrawlFrontierNext[]; counts: CrawlFrontierCount[] | null };
export type CrawlFrontierCount = {
  depth: number;
  state: UrlState;
  status_code: number | null;
  error_code: string | null;
  count: number;
};
export type CrawlFrontierNext = { url: string; depth: number; attempts: number; not_before: string };
export type CrawlOptions = {
  rate_limit_rps?: number;
  respect_robots_txt?: boolean;
  headers?: Record<string, string>;
  chunk_size?: number;
  chunk_overlap?: number;
  min_chunk_size?: number;
  page_timeout_ms?: number;
  max_page_size_mb?: number;
  max_redirects?: number;
  languages?: string[];
  session_ids?: SessionIdHandling;
  ignore_parameters?: string[];
  render?: RenderMode;
  pdf?: PdfHandling;
  wait_for?: string;
  viewport?: Viewport;
  mobile?: boolean;
  actions?: (WaitAction | WaitForAction | ClickAction | TypeAction | ScrollAction)[];
  cookies?: CookieOption[];
  session?: boolean;
  include_selectors?: string[];
  exclude_selectors?: string[];
  only_main_content?: boolean;
  proxy_id?: string;
};
export type CrawlPagesRequest = {
  url?: string;
  urls?: string[];
  concurrency?: number | null;
  cache?: CacheUse;
  restore_deleted?: boolean;
  config_id?: string | null;
  config?: CrawlOptions | null;
  collection_id?: string | null;
  tags?: string[] | null;
  priority?: JobPriority;
  webhook_url?: string | null;
  webhook_headers?: Record<string, string> | null;
  webhook_secret?: string | null;
  webhook_events?: WebhookEvent[] | null;
};
export type CrawlProgress = {
  job_id: string;
  status: string;
  stop_reason: string | null;
  error: string | null;
  cancel_requested: boolean;
  counts: JobCounts | null;
  waits: CrawlProgressWait[];
  started_at: string | null;
  completed_at: string | null;
};
export type CrawlProgressWait = { host: string; code: string; message: string; until: string };
export type CrawlRendering = { wanted: number; rendered: number; unrendered: CrawlError[] };
export type CrawlRun = {
  scope: CrawlRunScope;
  keywords: string[];
  score_threshold: number;
  max_pages_per_host: number | null;
  concurrency: number | null;
  index: boolean;
  cache: CacheUse;
  cache_ttl_s: number;
  config: CrawlRunConfig;
};
export type CrawlRunConfig = {
  rate_limit_rps?: number;
  respect_robots_txt?: boolean;
  headers?: Record<string, string>;
  chunk_size?: number;
  chunk_overlap?: number;
  min_chunk_size?: number;
  page_timeout_ms?: number;
  max_page_size_mb?: number;
  max_redirects?: number;
  languages?: string[];
  session_ids?: SessionIdHandling;
  ignore_parameters?: string[];
  render?: RenderMode;
  pdf?: PdfHandling;
  wait_for?: string;
  viewport?: Viewport;
  mobile?: boolean;
  actions?: (WaitAction | WaitForAction | ClickAction | TypeAction | ScrollAction)[];
  cookies?: CookieOption[];
  session?: boolean;
  include_selectors?: string[];
  exclude_selectors?: string[];
  only_main_content?: boolean;
  proxy_id?: string;
};
export type CrawlRunScope = { mode: CrawlRunScopeMode; roots: string[]; include?: string[]; exclude?: string[] };
export type CrawlRunScopeMode = "any" | "host" | "domain" | "prefix";
export type CrawlSearchRunRequest = {
  min_confidence?: number;
  limit?: number;
  config_id?: string | null;
  config?: CrawlOptions | null;
  collection_id?: string | null;
  tags?: string[] | null;
  priority?: JobPriority;
};
export type CrawlSearchRunResponse = {
  job_id: string;
  status: string;
  run_id: number;
  submitted: number;
  refused: CrawlSearchRunResponseRefused[];
};
export type CrawlSearchRunResponseRefused = { url: string; code: string; reason: string };
export type CrawlSiteRequest = {
  url: string;
  strategy?: JobSettingsStrategy;
  keywords?: string[];
  score_threshold?: number;
  scope?: SiteScope;
  include?: string[];
  exclude?: string[];
  max_depth?: number;
  max_pages?: number;
  max_pages_per_host?: number | null;
  concurrency?: number | null;
  timeout_seconds?: number | null;
  cache?: CacheUse;
  restore_deleted?: boolean;
  config_id?: string | null;
  config?: CrawlOptions | null;
  collection_id?: string | null;
  tags?: string[] | null;
  priority?: JobPriority;
  webhook_url?: string | null;
  webhook_headers?: Record<string, string> | null;
  webhook_secret?: string | null;
  webhook_events?: WebhookEvent[] | null;
};
export type CrawlSiteResponse = { job_id: string; status: JobStatus; message: string };
export type CrawledPage = {
  url: string;
  final_url?: string;
  canonical_url?: string;
  depth: number;
  status_code: number;
  title?: string;
  content?: string;
  markdown?: string;
  links?: string[];
  mime?: string;
  charset?: string;
  fetch_time_ms?: number;
  robots_obeyed?: boolean;
  disallowed?: boolean;
  fetch_error?: string;
  parse_error?: string;
  truncated?: boolean;
  no_document?: NoDocumentReason;
  crawled_at?: string;
};
export type CrawledUrl = {
  url: string;
  depth: number;
  state: UrlState;
  attempts: number;
  error_code: string | null;
  error_message: string | null;
  discovered_from: string | null;
  capture_id: number | null;
  final_url: string | null;
  status_code: number | null;
  mime_type: string | null;
  title: string | null;
  fetched_at: string | null;
  fetch_time_ms: number | null;
  payload_bytes: number | null;
  not_modified: boolean | null;
  truncated: boolean | null;
  reused: boolean | null;
  rendered: CrawledUrlRendered | null;
  document_id: string | null;
  no_document: NoDocumentReason | null;
};
export type CrawledUrlList = { items: CrawledUrl[]; next_cursor: string | null; has_more: boolean };
export type CrawledUrlRendered = {
  reason: string;
  renderer: CrawledUrlRenderedRenderer | null;
  archived: boolean;
  error_code: string | null;
  error_message: string | null;
};
export type CrawledUrlRenderedRenderer = "chromium" | "crawl4ai" | "pdfjs";
export type CreateApiKeyRequest = {
  name: string;
  scopes?: ApiKeyScope[];
  rate_limit_rpm?: number;
  expires_at?: string | null;
  collections?: string[] | null;
  jobs_per_day?: number | null;
  pages_per_day?: number | null;
  max_stored_bytes?: number | null;
};
export type CreateApiKeyResponse = {
  id: string;
  prefix: string;
  name: string;
  scopes: ApiKeyScope[];
  rate_limit_rpm: number;
  collections: string[] | null;
  jobs_per_day: number | null;
  jobs_today: number;
  pages_per_day: number | null;
  pages_today: number;
  max_stored_bytes: number | null;
  stored_bytes: number;
  created_at: string;
  expires_at: string | null;
  is_active: boolean;
  key: string;
};
export type CreateArchiveJobRequest = {
  source: string;
  name?: string | null;
  extraSeeds?: string[] | null;
  toolOptions?: Record<string, unknown> | null;
  passthroughArgs?: string[] | null;
};
export type CreateCollectionRequest = {
  name: string;
  description?: string | null;
  defaults?: CreateCollectionRequestDefaults | null;
};
export type CreateCollectionRequestDefaults = {
  chunk_size?: number | null;
  chunk_overlap?: number | null;
  min_chunk_size?: number | null;
  languages?: string[] | null;
  language?: string | null;
};
export type CreateConfigRequest = {
  name: string;
  max_depth?: 0;
  extraction_strategy?: "markdown";
  chunking_strategy?: "sliding_window";
  rate_limit_rps?: number;
  respect_robots_txt?: boolean;
  headers?: Record<string, string>;
  chunk_size?: number;
  chunk_overlap?: number;
  min_chunk_size?: number;
  page_timeout_ms?: number;
  max_page_size_mb?: number;
  max_redirects?: number;
  languages?: string[];
  session_ids?: SessionIdHandling;
  ignore_parameters?: string[];
  render?: RenderMode;
  pdf?: PdfHandling;
  wait_for?: string;
  viewport?: Viewport;
  mobile?: boolean;
  actions?: (WaitAction | WaitForAction | ClickAction | TypeAction | ScrollAction)[];
  cookies?: CookieOption[];
  session?: boolean;
  include_selectors?: string[];
  exclude_selectors?: string[];
  only_main_content?: boolean;
  proxy_id?: string;
};
export type CreateDocumentUploadRequest = { bytes: number; sha256: string };
export type CreateDocumentUploadResponse = {
  upload_id: string;
  upload_url: string;
  method: "PUT";
  headers: Record<string, string>;
  expires_at: string;
};
export type CreateExclusionRequest = {
  url: string;
  matchType?: PackageOfUrlsMatchType;
  embargoDays?: number;
  reason?: string;
};
export type CreateExclusionResponse = {
  id: string;
  url: string;
  matchType: ExclusionMatchType;
  embargoDays: number | null;
  reason: string | null;
  createdAt: string;
  matchedCaptures: number;
  matchedMore: boolean;
};
export type CreateProxyRequest = {
  name: string;
  servers: CreateProxyRequestServer[];
  rotation_strategy?: ProxyRotationStrategy;
  is_active?: boolean;
};
export type CreateProxyRequestServer = { url: string; username?: string | null; password?: string | null };
export type CreateSearchRunRequest = { query: string; options?: CreateSearchRunRequestOptions };
export type CreateSearchRunRequestOptions = { lang?: string; maxResults?: number };
export type CreateSearchRunResponse = {
  run_id: number;
  rewritten_template: string;
  final_queries: Record<string, string>;
  providers_used: string[];
  urls: HarvestedUrl[];
  meta: CreateSearchRunResponseMeta;
};
export type CreateSearchRunResponseMeta = {
  counts: Record<string, number>;
  total_unique: number;
  latency_ms: Record<string, number>;
  errors: Record<string, string>;
  template_cached: boolean;
};
export type CreateSourceRequest = {
  name: string;
  type?: SourceType;
  url: string;
  schedule_cron?: string | null;
  time_zone?: string;
  is_active?: boolean;
  revisit?: CreateSourceRequestRevisit | null;
  site?: CreateSourceRequestSite | null;
  list?: CreateSourceRequestList | null;
  config_id?: string | null;
  config?: CrawlOptions | null;
  collection_id?: string | null;
  tags?: string[] | null;
  priority?: JobPriority;
};
export type CreateSourceRequestList = { include?: string[]; exclude?: string[]; max_entries?: number };
export type CreateSourceRequestRevisit = { shortest_hours?: number; longest_hours: number };
export type CreateSourceRequestSite = {
  scope?: SiteScope;
  include?: string[];
  exclude?: string[];
  max_depth?: number;
  max_pages?: number;
};
export type CreateSourceResponseList = { include: string[]; exclude: string[]; max_entries: number };
export type CreateTagRequest = { name: string };
export type CreateWebhookRequest = {
  source_id?: string | null;
  url: string;
  headers?: Record<string, string> | null;
  events?: WebhookEvent[] | null;
  secret?: string;
};
export type CreateWebhookResponse = {
  id: string;
  job_id: string | null;
  source_id: string | null;
  url: string;
  header_names: string[];
  events: WebhookEvent[];
  is_active: boolean;
  stopped_reason: string | null;
  secret_count: number;
  created_at: string;
  secret: string;
};
export type DebugArchiveSearchResponse = {
  results: DebugArchiveSearchResponseResult[];
  total: number;
  page: number;
  pageSize: number;
  mode: string;
  view: string;
  sort: string;
  rankingVersion: string;
  queryMode: DebugArchiveSearchResponseQueryMode | null;
};
export type DebugArchiveSearchResponseQueryMode = "broad" | "mixed" | "specific";
export type DebugArchiveSearchResponseResult = {
  id: number;
  title: string | null;
  sourceCode: string;
  sourceName: string;
  language: string | null;
  captureDate: string;
  captureTimestamp: string;
  jobId: number;
  originalUrl: string;
  snippet: string | null;
  rawSnapshotUrl: string;
  pageSnapshotsCount: number | null;
  browseUrl: string | null;
  statusCode: number;
  normalizedUrlGroup: string;
  inlinkCount: number;
  rankText: number;
  titleBoost: number;
  archivedPenalty: number;
  queryPenalty: number;
  trackingPenalty: number;
  depthPenalty: number;
  authorityBoost: number;
  hubnessBoost: number;
  pagerankBoost: number;
  totalScore: number;
};
export type DeleteDocumentsRequest = { document_ids: string[] };
export type DiscoverUrlsRequest = {
  domain: string;
  sources?: DiscoverySource[];
  pattern?: string | null;
  max_urls?: number;
  score_query?: string | null;
  score_threshold?: number;
};
export type DiscoverUrlsResponse = { job_id: string; status: WarcRunStatus; message: string };
export type DiscoveredUrl = {
  url: string;
  lastmod: string | null;
  source: DiscoveredUrlSource;
  found_in: string;
  score: number | null;
};
export type DiscoveredUrlList = { items: DiscoveredUrl[]; next_cursor: string | null; has_more: boolean };
export type DiscoveredUrlSource = "sitemap" | "feed" | "common_crawl";
export type Discovery = {
  job_id: string;
  domain: string;
  sources: DiscoverySource[];
  pattern: string | null;
  max_urls: number;
  score_query: string | null;
  score_threshold: number;
  status: WarcRunStatus;
  error: string | null;
  urls_found: number;
  notes: DiscoveryNote[];
  created_at: string;
  completed_at: string | null;
  results: DiscoveredUrlList;
};
export type DiscoveryNote = { source: string; code: string; message: string; count: number | null };
export type DiscoverySource = "sitemap" | "common_crawl";
export type Document = {
  id: string;
  url: string;
  domain: string;
  title: string | null;
  language: string;
  source: DocumentSource;
  collection_id: string | null;
  tags: DocumentTag[];
  metadata: Record<string, unknown>;
  content_hash: string;
  job_id: string | null;
  capture_id: number | null;
  parent_url: string | null;
  crawled_at: string;
  updated_at: string;
  deleted_at: string | null;
};
export type DocumentDetails = {
  id: string;
  url: string;
  domain: string;
  title: string | null;
  language: string;
  source: DocumentSource;
  collection_id: string | null;
  tags: DocumentTag[];
  metadata: Record<string, unknown>;
  content_hash: string;
  job_id: string | null;
  capture_id: number | null;
  parent_url: string | null;
  crawled_at: string;
  updated_at: string;
  deleted_at: string | null;
  content: string;
  markdown: string;
  is_cut: boolean;
  sections: number;
  chunk_count: number;
  chunks: Chunk[];
};
export type DocumentList = { items: Document[]; next_cursor: string | null; has_more: boolean; total: number | null };
export type DocumentSource = "crawl" | "upload" | "api";
export type DocumentTag = { id: string; name: string };
export type Domain = {
  domain: string;
  rate_limit_rps: number | null;
  circuit_breaker_threshold: number | null;
  circuit_breaker_timeout_s: number | null;
  is_blocked: boolean;
  blocked_reason: string | null;
  updated_at: string | null;
  in_force: boolean;
  circuit: DomainCircuit;
  next_slot_at: string | null;
  hold_until: string | null;
  urls: DomainUrls | null;
  robots: DomainRobot[];
};
export type DomainCircuit = {
  state: DomainCircuitState;
  failures: number;
  openings: number;
  opened_at: string | null;
  down_since: string | null;
  until: string | null;
  threshold: number;
  timeout_s: number;
};
export type DomainCircuitState = "closed" | "open" | "half_open";
export type DomainList = { items: DomainSummary[]; next_cursor: string | null; has_more: boolean };
export type DomainRobot = {
  origin: string;
  rules: DomainRobotRule[];
  total_rules: number;
  crawl_delay_s: number | null;
  sitemaps: string[];
};
export type DomainRobotRule = { allow: boolean; pattern: string };
export type DomainStat = {
  crawled: number;
  failed: number;
  skipped: number;
  retried: number;
  reused: number;
  payload_bytes: number;
  last_capture_at: string;
  domain: string;
};
export type DomainStatList = { items: DomainStat[]; next_cursor: string | null; has_more: boolean };
export type DomainSummary = {
  domain: string;
  rate_limit_rps: number | null;
  circuit_breaker_threshold: number | null;
  circuit_breaker_timeout_s: number | null;
  is_blocked: boolean;
  blocked_reason: string | null;
  updated_at: string | null;
  in_force: boolean;
};
export type DomainUrls = {
  crawled: number;
  failed: number;
  skipped: number;
  retried: number;
  reused: number;
  payload_bytes: number;
  last_capture_at: string;
};
export type Edition = {
  jobId: number;
  jobName: string;
  recordCount: number;
  firstCapture: string;
  lastCapture: string;
  entryBrowseUrl: string | null;
};
export type EmbeddingModel = {
  model: string;
  dimension: number;
  state: ChunkSizeState;
  paused: boolean;
  changed_at: string;
  chunks: number;
  waiting: number;
};
export type EmbeddingModelList = { items: EmbeddingModel[] };
export type Entrance = { name: string; version: string; about: string; links: Record<string, string> };
export type ErrorRecord = { type: "error"; data: ErrorRecordData };
export type ErrorRecordData = { error_code: string; message: string; cursor?: number; host?: string; until?: string };
export type ErrorResponse = { error: string; code: string; details?: Record<string, unknown>; request_id: string };
export type Exclusion = {
  id: string;
  url: string;
  matchType: ExclusionMatchType;
  embargoDays: number | null;
  reason: string | null;
  createdAt: string;
};
export type ExclusionList = { items: Exclusion[]; next_cursor: string | null; has_more: boolean };
export type ExclusionMatchType = "exact" | "prefix" | "host" | "domain" | "all";
export type ExecuteJavaScriptRequest = {
  url: string;
  wait_for?: string | null;
  respect_robots_txt?: boolean;
  viewport?: Viewport | null;
  mobile?: boolean;
  scripts: string[];
};
export type ExecuteJavaScriptResponse = {
  url: string;
  final_url: string;
  status_code: number;
  navigations: string[];
  complete: boolean;
  results: ExecuteJavaScriptResponseResult[];
};
export type ExecuteJavaScriptResponseResult = {
  index: number;
  success: boolean;
  result?: unknown;
  error: string | null;
};
export type ExportDocumentsRequest = {
  collection_id?: string | null;
  tags?: string[] | null;
  domain?: string | null;
  source?: DocumentSource | null;
  language?: string | null;
  url_prefix?: string | null;
  limit?: number;
  cursor?: string | null;
};
export type ExportDocumentsResponse = {
  documents: number;
  bytes: number;
  sha256: string;
  download_url: string;
  expires_at: string;
  next_cursor: string | null;
  has_more: boolean;
};
export type ExportManifest = {
  enabled: boolean;
  formats: string[];
  defaultLimit: number;
  maxLimit: number;
  snapshots: ExportManifestChanges;
  changes: ExportManifestChanges;
};
export type ExportManifestChanges = {
  path: string;
  description: string;
  formats: string[];
  columns: ExportManifestChangesColumn[];
};
export type ExportManifestChangesColumn = { name: string; type: string; nullable: boolean; about: string };
export type ExtractBatchRequest = {
  urls: string[];
  format?: ExtractFormat;
  concurrency?: number;
  timeout_seconds?: number;
  config_id?: string | null;
  config?: CrawlOptions | null;
  cache?: CacheUse;
};
export type ExtractBatchResponse = { total_urls: number; successful: number; failed: number; results: ExtractedPage[] };
export type ExtractFormat = "markdown" | "text" | "html";
export type ExtractedPage = {
  url: string;
  status: ExtractedPageStatus;
  markdown?: string;
  text?: string;
  html?: string;
  metadata?: ExtractedPageMetadata;
  truncated?: boolean;
  error?: string;
};
export type ExtractedPageMetadata = { title?: string; author?: string; publish_date?: string; word_count: number };
export type ExtractedPageStatus = "success" | "failed";
export type FailedJob = {
  job_id: string;
  kind: JobKind;
  status: JobStatus;
  stop_reason: string | null;
  error: string | null;
  priority: JobPriority;
  collection_id: string | null;
  cancel_requested: boolean;
  waits: JobWait[];
  counts: JobCounts;
  settings: JobSettings;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  retry_of: string | null;
  errors: CrawlError[];
  dead_letters: CrawlDeadLetter[];
};
export type FailedJobList = { items: FailedJob[]; next_cursor: string | null; has_more: boolean };
export type FailedTag = { document_id: string; code: FailedTagCode; error: string };
export type FailedTagCode = "NOT_FOUND" | "CONFLICT" | "VALIDATION_ERROR";
export type FieldSchema = {
  selector?: string;
  type?: FieldType;
  attribute?: string;
  multiple?: boolean;
  fields?: Record<string, FieldSchemaField> | null;
};
export type FieldSchemaField = {
  selector?: string;
  type?: FieldType;
  attribute?: string;
  multiple?: boolean;
  fields?: Record<string, FieldSchemaFieldField> | null;
};
export type FieldSchemaFieldField = {
  selector?: string;
  type?: FieldType;
  attribute?: string;
  multiple?: boolean;
  fields?: Record<string, FieldSchemaFieldFieldField> | null;
};
export type FieldSchemaFieldFieldField = {
  selector?: string;
  type?: FieldType;
  attribute?: string;
  multiple?: boolean;
  fields?: Record<string, FieldSchemaFieldFieldFieldField> | null;
};
export type FieldSchemaFieldFieldFieldField = {
  selector?: string;
  type?: FieldType;
  attribute?: string;
  multiple?: boolean;
  fields?: null;
};
export type FieldType = "text" | "attribute" | "html" | "nested";
export type FieldsSchema = { fields: Record<string, FieldSchema> };
export type Generation = {
  id: string;
  job_id: string;
  collection_id: string | null;
  hosts: string[];
  is_whole: boolean;
  state: GenerationState;
  visible_documents: number;
  documents: number;
  first_activated_at: string;
  activated_at: string;
};
export type GenerationDifference = {
  url: string;
  title: string | null;
  change: GenerationDifferenceChange;
  from_document: string | null;
  to_document: string | null;
  difference: GenerationDifferenceDifference | null;
};
export type GenerationDifferenceChange = "added" | "removed" | "changed";
export type GenerationDifferenceDifference = {
  added_lines: number;
  removed_lines: number;
  change_ratio: number;
  hunks: GenerationDifferenceDifferenceHunk[];
  is_cut: boolean;
};
export type GenerationDifferenceDifferenceHunk = { from: number; to: number; lines: ["=" | "+" | "-" | ">", string][] };
export type GenerationDifferenceList = { items: GenerationDifference[]; next_cursor: string | null; has_more: boolean };
export type GenerationList = { items: Generation[]; next_cursor: string | null; has_more: boolean };
export type GenerationState = "active" | "kept" | "cleaned";
export type HarvestErrorResponse = { error: string; details: string };
export type HarvestedUrl = { url: string; providers: string[]; confidence: number };
export type Health = { status: "ok" };
export type ImportDocumentsRequest = {
  upload_id?: string | null;
  content?: string | null;
  collection_id?: string | null;
  from_line?: number;
};
export type ImportDocumentsResponse = {
  created: number;
  updated: number;
  unchanged: number;
  failed: ImportDocumentsResponseFailed[];
  vectors: number;
  to_embed: number;
  next_line: number | null;
};
export type ImportDocumentsResponseFailed = { line: number; code: string; error: string };
export type ImportWarcFromKey = { key: string; source?: string };
export type ImportWarcResponsePUT = {
  id: string;
  key: string;
  uploadUrl: string;
  method: "PUT";
  headers: Record<string, string>;
  expiresAt: string;
};
export type ImportWarcUpload = { filename: string; bytes: number; sha256: string; source?: string };
export type Job = {
  job_id: string;
  kind: JobKind;
  status: JobStatus;
  stop_reason: string | null;
  error: string | null;
  priority: JobPriority;
  collection_id: string | null;
  cancel_requested: boolean;
  waits: JobWait[];
  counts: JobCounts;
  settings: JobSettings;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
};
export type JobCounts = {
  discovered: number;
  open: number;
  crawled: number;
  failed: number;
  skipped: number;
  documents: number;
  chunks: number;
  unembedded_chunks: number;
};
export type JobKind = "pages" | "site" | "archive" | "import";
export type JobList = { items: Job[]; next_cursor: string | null; has_more: boolean };
export type JobPageList = { pages: CrawledPage[]; cursor: number; has_more: boolean; total_pages: number };
export type JobPriority = "high" | "normal" | "low";
export type JobSettings = {
  seeds: string[];
  max_depth: number;
  max_pages: number;
  strategy: JobSettingsStrategy;
  tags: string[];
};
export type JobSettingsStrategy = "bfs" | "dfs" | "best_first";
export type JobStats = {
  job_id: string;
  status: JobStatsStatus;
  created_at: string;
  completed_at: string | null;
  pages_crawled: number;
  pages_failed: number;
  duration_seconds: number;
  stop_reason: string | null;
  error?: string;
  waits?: JobWait[];
};
export type JobStatsStatus = "running" | "completed" | "failed" | "cancelled";
export type JobStatus = "pending" | "running" | "embedding" | "completed" | "failed" | "cancelled";
export type JobWait = { code: JobWaitCode; message: string; until: string; host: string };
export type JobWaitCode = "CIRCUIT_OPEN" | "RATE_LIMITED";
export type LatestSnapshot = {
  found: boolean;
  snapshotId: number | null;
  captureTimestamp: string | null;
  mimeType: string | null;
};
export type LimitApiKeyRequest = {
  collections?: string[] | null;
  jobs_per_day?: number | null;
  pages_per_day?: number | null;
  max_stored_bytes?: number | null;
};
export type LiveComparison = {
  snapshot: LiveComparisonSnapshot;
  live: LiveComparisonLive;
  mode: LiveComparisonMode;
  changeType: LiveComparisonChangeType;
  summary: string;
  highNoise: boolean;
  addedSections: number;
  removedSections: number;
  changedSections: number;
  addedLines: number;
  removedLines: number;
  changeRatio: number;
  diffFormat: string;
  diffHtml: string;
  diffTruncated: boolean;
  archivedSnapshot: LiveComparisonSnapshot;
  liveFetch: LiveComparisonLiveFetch;
  stats: LiveComparisonStats;
  diff: LiveComparisonDiff;
  textModeRequested: LiveComparisonMode;
  textModeUsed: LiveComparisonMode;
  textModeFallback: boolean;
};
export type LiveComparisonChangeType = "updated" | "unchanged";
export type LiveComparisonDiff = {
  diffFormat: string;
  diffHtml: string;
  diffTruncated: boolean;
  diffVersion: string;
  normalizationVersion: string;
};
export type LiveComparisonLive = {
  requestedUrl: string;
  finalUrl: string;
  statusCode: number;
  contentType: string | null;
  fetchedAt: string;
  title: string | null;
  truncated: boolean;
};
export type LiveComparisonLiveFetch = {
  requestedUrl: string;
  finalUrl: string;
  statusCode: number;
  contentType: string | null;
  fetchedAt: string;
};
export type LiveComparisonMode = "main" | "full";
export type LiveComparisonSnapshot = {
  snapshotId: number;
  title: string | null;
  captureDate: string;
  captureTimestamp: string;
  originalUrl: string;
  jobId: number;
  jobName: string;
};
export type LiveComparisonStats = {
  summary: string;
  highNoise: boolean;
  addedSections: number;
  removedSections: number;
  changedSections: number;
  addedLines: number;
  removedLines: number;
  changeRatio: number;
};
export type LlmsText = { text: string; pages: number; next_cursor: string | null; has_more: boolean };
export type McpMessage = Record<string, unknown>;
export type MissingSide = { side: MissingSideSide; code: string; reason: string };
export type MissingSideSide = "vector" | "keyword" | "reranker";
export type NoDocumentReason = "type" | "noindex" | "no_text" | "language" | "not_asked" | "duplicate";
export type OpenApiDocument = { openapi: string };
export type OwnApiKey = { id: string; name: string; scopes: ApiKeyScope[]; collections: string[] | null };
export type Package = {
  id: string;
  job_id: string | null;
  selection: PackageOfUrls | null;
  status: WarcRunStatus;
  error: string | null;
  filename: string;
  bytes: number | null;
  sha256: string | null;
  records: number;
  pages: number;
  created_at: string;
  completed_at: string | null;
};
export type PackageDetails = {
  id: string;
  job_id: string | null;
  selection: PackageOfUrls | null;
  status: WarcRunStatus;
  error: string | null;
  filename: string;
  bytes: number | null;
  sha256: string | null;
  records: number;
  pages: number;
  created_at: string;
  completed_at: string | null;
  download: PackageDownload | null;
};
export type PackageDownload = { url: string; expires_at: string };
export type PackageList = { items: Package[]; next_cursor: string | null; has_more: boolean };
export type PackageOfJob = { job_id: string };
export type PackageOfUrls = {
  url: string;
  matchType?: PackageOfUrlsMatchType;
  from?: string;
  to?: string;
  filter?: string[];
};
export type PackageOfUrlsMatchType = "exact" | "prefix" | "host" | "domain";
export type PageRecord = { type: "page"; data: CrawledPage };
export type PdfHandling = "archive" | "read";
export type PrintPdfRequest = {
  url: string;
  wait_for?: string | null;
  respect_robots_txt?: boolean;
  viewport?: Viewport | null;
  mobile?: boolean;
  wait_seconds?: number;
  actions?: (WaitAction | WaitForAction | ClickAction | TypeAction | ScrollAction)[];
};
export type PrintPdfResponse = {
  url: string;
  final_url: string;
  status_code: number;
  navigations: string[];
  complete: boolean;
  content_type: string;
  size_bytes: number;
  width: number | null;
  height: number | null;
  truncated: boolean;
  download_url: string;
  expires_at: string;
};
export type Proxy = {
  id: string;
  name: string;
  servers: ProxyServer[];
  rotation_strategy: ProxyRotationStrategy;
  is_active: boolean;
  created_at: string;
};
export type ProxyList = { items: Proxy[]; next_cursor: string | null; has_more: boolean };
export type ProxyRotationStrategy = "round_robin" | "least_used" | "random";
export type ProxyServer = { url: string; username: string | null; has_password: boolean };
export type Readiness = { status: ReadinessStatus; checks: Record<string, string> };
export type ReadinessStatus = "ok" | "unavailable";
export type ReconcileVectorsRequest = { cursor?: string | null; dry_run?: boolean };
export type ReconcileVectorsResponse = {
  orphaned_points: number;
  lost_chunks: number;
  stale_chunks: number;
  waiting_chunks: number;
  next_cursor: string | null;
  has_more: boolean;
};
export type RefusedSeed = { path: string; host?: string; code: RefusedSeedCode; message: string };
export type RefusedSeedCode = "URL_BLOCKED" | "URL_INVALID";
export type RegisterArchiveJobRequest = { source: string; name?: string | null; keys: string[] };
export type ReindexCollectionResponse = {
  documents: number;
  recut: number;
  next_cursor: string | null;
  has_more: boolean;
};
export type RenderMode = "never" | "auto" | "always";
export type ReplaceWebhookRequest = {
  url: string;
  headers?: Record<string, string>;
  events: WebhookEvent[];
  is_active?: boolean;
};
export type Report = {
  id: number;
  category: ReportCategory;
  status: ReportStatus;
  createdAt: string;
  updatedAt: string;
  snapshotId: number | null;
  originalUrl: string | null;
  pageUrl: string | null;
  reporterEmail: string | null;
  description: string;
  internalNotes: string | null;
};
export type ReportCategory =
  | "broken_snapshot"
  | "incorrect_metadata"
  | "missing_snapshot"
  | "takedown"
  | "general_feedback";
export type ReportList = { items: Report[]; total: number; limit: number; offset: number };
export type ReportStatus = "new" | "triaged" | "resolved" | "dismissed";
export type ResolveReplayResponse = {
  found: boolean;
  snapshotId: number | null;
  captureTimestamp: string | null;
  resolvedUrl: string | null;
  browseUrl: string | null;
  mimeType: string | null;
};
export type RetryArchiveJobRequest = Record<string, unknown>;
export type RetryJobResponse = {
  job_id: string;
  status: JobStatus;
  message: string;
  retry_of: string;
  urls: number;
  left: number;
};
export type RotateWebhookSecretRequest = { secret?: string; overlap_hours?: number | null };
export type SaveAdminSourceRequest = { sources?: AdminSourceRequest[] };
export type SaveAdminSourceResponse = { created: string[]; updated: string[]; unchanged: string[] };
export type SaveDomainRequest = {
  rate_limit_rps?: number | null;
  circuit_breaker_threshold?: number | null;
  circuit_breaker_timeout_s?: number | null;
  is_blocked?: boolean;
  blocked_reason?: string | null;
};
export type ScoreUrlsRequest = { urls: (string | ScoreUrlsRequestUrl)[]; query: string; score_threshold?: number };
export type ScoreUrlsRequestUrl = { url: string; title?: string };
export type ScoreUrlsResponse = { keywords: string[]; results: ScoreUrlsResponseResult[] };
export type ScoreUrlsResponseResult = { url: string; score: number | null; code: "URL_INVALID" | null };
export type ScrapeRequest = {
  url: string;
  formats?: ScrapeRequestFormat[];
  schema?: FieldsSchema | null;
  screenshot?: ScrapeRequestScreenshot | null;
  timeout_seconds?: number;
  config_id?: string | null;
  config?: CrawlOptions | null;
  cache?: CacheUse;
};
export type ScrapeRequestFormat =
  | "markdown"
  | "text"
  | "html"
  | "raw_html"
  | "links"
  | "metadata"
  | "json"
  | "screenshot";
export type ScrapeRequestScreenshot = {
  full_page?: boolean;
  format?: TakeScreenshotRequestFormat;
  wait_seconds?: number;
};
export type ScrapeResponse = {
  url: string;
  job_id: string;
  final_url: string;
  status_code: number;
  fetch_error?: string;
  rendered?: ScrapeResponseRendered;
  markdown?: string;
  text?: string;
  html?: string;
  raw_html?: string;
  links?: string[];
  metadata?: ScrapeResponseMetadata;
  json?: unknown;
  truncated?: boolean;
  screenshot?: PrintPdfResponse;
};
export type ScrapeResponseMetadata = {
  title?: string;
  author?: string;
  description?: string;
  keywords?: string[];
  publish_date?: string;
  image?: string;
  language?: string;
  canonical_url?: string;
  mime?: string;
  charset?: string;
  word_count: number;
  crawled_at: string;
};
export type ScrapeResponseRendered = {
  reason: string;
  renderer: CrawledUrlRenderedRenderer | null;
  error_code: string | null;
  error_message: string | null;
};
export type ScrollAction = { type: "scroll"; pixels?: number };
export type SearchFacets = {
  counted: number;
  exact: boolean;
  domain: SearchFacetsTag[] | null;
  language: SearchFacetsTag[] | null;
  collection: SearchFacetsTag[] | null;
  month: SearchFacetsTag[] | null;
  tag: SearchFacetsTag[] | null;
};
export type SearchFacetsTag = { value: string | null; count: number };
export type SearchFusion = {
  method: SearchFusionMethod;
  vector_weight: number;
  keyword_weight: number;
  rrf_k: number | null;
};
export type SearchFusionMethod = "linear" | "rrf";
export type SearchRequest = {
  query: string;
  collection_ids?: string[] | null;
  domains?: string[] | null;
  min_score?: number;
  limit?: number;
  languages?: string[] | null;
  source_types?: DocumentSource[] | null;
  date_from?: string | null;
  date_to?: string | null;
  url_prefix?: string | null;
  fusion?: SearchFusionMethod | null;
  rrf_k?: number | null;
  vector_weight?: number | null;
  keyword_weight?: number | null;
  expand_chunks?: boolean;
  explain?: boolean;
  facets?: SearchRequestFacet[] | null;
  collapse_duplicates?: boolean;
  use_reranker?: boolean;
  rerank_top_n?: number | null;
  tag_ids?: string[] | null;
  tags?: string[] | null;
  tag_match?: SearchRequestTagMatch | null;
  group_by?: "section" | null;
  cursor?: string | null;
};
export type SearchRequestFacet = "domain" | "language" | "collection" | "month" | "tag";
export type SearchRequestTagMatch = "any" | "all";
export type SearchResponse = {
  results: SearchResult[];
  missing_sides: MissingSide[];
  fusion: SearchFusion | null;
  total_count: number | null;
  total_exact: boolean;
  facets: SearchFacets | null;
  next_cursor: string | null;
  query_embedding_cached: boolean;
  result_cached: boolean;
  latency_ms: number;
};
export type SearchResult = {
  document_id: string;
  chunk_id: string;
  url: string;
  title: string | null;
  content: string;
  score: number;
  vector_score: number | null;
  keyword_score: number | null;
  rerank_score: number | null;
  source: SearchResultSource;
  highlights: [number, number][];
  section_header: string | null;
  section: SearchResultSection | null;
  expanded_chunks: string[] | null;
  explanation: SearchResultExplanation | null;
  duplicates: SearchResultDuplicate[] | null;
};
export type SearchResultDuplicate = {
  document_id: string;
  chunk_id: string;
  url: string;
  title: string | null;
  score: number;
  similarity: number;
};
export type SearchResultExplanation = { vector_rank: number | null; keyword_rank: number | null };
export type SearchResultSection = {
  position: number;
  level: number;
  heading: string | null;
  path: string[];
  link: string;
};
export type SearchResultSource = "vector" | "keyword" | "fused";
export type SearchRun = {
  run_id: number;
  query: string;
  rewritten_template: string;
  timestamp: string;
  providers_used: string[];
  urls: HarvestedUrl[];
};
export type SearchRunList = { items: SearchRunSummary[]; next_cursor: string | null; has_more: boolean };
export type SearchRunSummary = {
  run_id: number;
  query: string;
  rewritten_template: string;
  timestamp: string;
  providers_used: string[];
};
export type SearchRunsHealth = {
  ok: boolean;
  database: SearchRunsHealthDatabase;
  configuration: SearchRunsHealthDatabase;
  internet: SearchRunsHealthDatabase;
};
export type SearchRunsHealthDatabase = { ok: boolean; detail: string };
export type SearchVectorsRequest = {
  query: string;
  collection_ids?: string[] | null;
  domains?: string[] | null;
  min_score?: number;
  limit?: number;
  languages?: string[] | null;
  source_types?: DocumentSource[] | null;
  date_from?: string | null;
  date_to?: string | null;
  url_prefix?: string | null;
  fusion?: SearchFusionMethod | null;
  rrf_k?: number | null;
  vector_weight?: number | null;
  keyword_weight?: number | null;
  expand_chunks?: boolean;
  explain?: boolean;
  facets?: SearchRequestFacet[] | null;
  collapse_duplicates?: boolean;
  use_reranker?: boolean;
  rerank_top_n?: number | null;
  tag_ids?: string[] | null;
  tags?: string[] | null;
  tag_match?: SearchRequestTagMatch | null;
  group_by?: "section" | null;
  cursor?: string | null;
};
export type Section = {
  document_id: string;
  url: string;
  position: number;
  last_position: number;
  heading: string | null;
  markdown: string;
  is_cut: boolean;
};
export type SectionEntry = {
  position: number;
  parent: number | null;
  heading: string | null;
  level: number;
  start_char: number;
  end_char: number;
  children: number;
};
export type SectionList = {
  document_id: string;
  url: string;
  total: number;
  is_cut: boolean;
  sections: SectionEntry[];
  next_cursor: string | null;
  has_more: boolean;
};
export type SessionIdHandling = "strip" | "keep";
export type SiteScope = "host" | "domain" | "prefix";
export type Snapshot = {
  id: number;
  title: string | null;
  sourceCode: string;
  sourceName: string;
  language: string | null;
  captureDate: string;
  captureTimestamp: string;
  jobId: number;
  originalUrl: string;
  snippet: string | null;
  mimeType: string | null;
  statusCode: number;
  rawSnapshotUrl: string;
  browseUrl: string | null;
};
export type SnapshotComparison = {
  event: Change;
  fromSnapshot: LiveComparisonSnapshot | null;
  toSnapshot: LiveComparisonSnapshot;
  diffFormat: string | null;
  diffHtml: string | null;
  diffTruncated: boolean;
  diffVersion: string | null;
  normalizationVersion: string | null;
};
export type SnapshotTimeline = {
  sourceCode: string;
  sourceName: string;
  normalizedUrlGroup: string;
  snapshots: SnapshotTimelineSnapshot[];
};
export type SnapshotTimelineSnapshot = {
  snapshotId: number;
  captureDate: string;
  captureTimestamp: string;
  jobId: number;
  jobName: string;
  title: string | null;
  statusCode: number;
  compareFromSnapshotId: number | null;
  previewUrl: string | null;
  browseUrl: string | null;
};
export type Source = {
  id: string;
  name: string;
  type: SourceType;
  url: string;
  schedule_cron: string | null;
  time_zone: string;
  is_active: boolean;
  revisit: SourceRevisit | null;
  revisit_hours: number | null;
  site: SourceSite | null;
  list: CreateSourceResponseList | null;
  config_id: string | null;
  config: CrawlOptions;
  collection_id: string | null;
  tags: string[];
  priority: JobPriority;
  last_crawled_at: string | null;
  last_error: string | null;
  next_run_at: string | null;
  created_at: string;
  updated_at: string;
};
export type SourceDetails = {
  id: string;
  name: string;
  type: SourceType;
  url: string;
  schedule_cron: string | null;
  time_zone: string;
  is_active: boolean;
  revisit: SourceRevisit | null;
  revisit_hours: number | null;
  site: SourceSite | null;
  list: CreateSourceResponseList | null;
  config_id: string | null;
  config: CrawlOptions;
  collection_id: string | null;
  tags: string[];
  priority: JobPriority;
  last_crawled_at: string | null;
  last_error: string | null;
  next_run_at: string | null;
  created_at: string;
  updated_at: string;
  next_runs: string[];
  runs: SourceRun[];
};
export type SourceList = { items: Source[]; next_cursor: string | null; has_more: boolean };
export type SourceListReport = {
  documents_read: number;
  documents_unchanged: number;
  entries: number;
  taken: number;
  left: number;
  notes: DiscoveryNote[];
};
export type SourceRevisit = { shortest_hours: number; longest_hours: number };
export type SourceRun = {
  job_id: string;
  status: JobStatus;
  stop_reason: string | null;
  error: string | null;
  counts: JobCounts;
  list: SourceListReport | null;
  created_at: string;
  completed_at: string | null;
};
export type SourceRunList = { items: SourceRun[]; next_cursor: string | null; has_more: boolean };
export type SourceSite = {
  scope: SiteScope;
  include: string[];
  exclude: string[];
  max_depth: number;
  max_pages: number;
};
export type SourceType = "page" | "site" | "feed" | "sitemap";
export type SpiderCrawlAccepted = {
  job_id: string;
  status: "running";
  created_at: string;
  refused_seeds?: RefusedSeed[];
};
export type SpiderCrawlPages = {
  pages_crawled: number;
  pages_failed: number;
  duration_seconds: number;
  stop_reason: string;
  error?: string;
  waits?: JobWait[];
  refused_seeds?: RefusedSeed[];
  domains: string[];
};
export type SpiderCrawlRequest = {
  seed_urls: string[];
  max_depth?: number;
  max_pages?: number;
  strategy?: SpiderStrategy;
  keywords?: string[];
  score_threshold?: number;
  timeout_seconds?: number | null;
  concurrency?: number | null;
  respect_robots?: boolean | null;
  same_domain_only?: boolean;
  include_patterns?: string[];
  exclude_patterns?: string[];
  cache?: CacheUse;
  config_id?: string | null;
  config?: CrawlOptions | null;
  collection_id?: string | null;
  tags?: string[] | null;
  priority?: JobPriority;
};
export type SpiderCrawlStats = {
  pages_crawled: number;
  pages_failed: number;
  duration_seconds: number;
  stop_reason: string;
  error?: string;
  waits?: JobWait[];
  refused_seeds?: RefusedSeed[];
  domains: string[];
  api_version: string;
  pages: CrawledPage[];
};
export type SpiderCrawlUrls = {
  pages_crawled: number;
  pages_failed: number;
  duration_seconds: number;
  stop_reason: string;
  error?: string;
  waits?: JobWait[];
  refused_seeds?: RefusedSeed[];
  domains: string[];
  discovered_urls: string[];
  discovered_total?: number;
  note?: string;
};
export type SpiderErrorResponse = {
  error: string;
  error_code: string;
  message: string;
  details?: Record<string, unknown>;
  request_id: string;
};
export type SpiderExtractRequest = {
  seeds: string[];
  scope?: SpiderExtractRequestScope | null;
  include?: string[];
  result_mode?: SpiderResultMode;
  extract_pattern?: string | null;
  timeout_seconds?: number;
  cache?: CacheUse;
  config_id?: string | null;
  config?: CrawlOptions | null;
  collection_id?: string | null;
  tags?: string[] | null;
  priority?: JobPriority;
};
export type SpiderExtractRequestScope = {
  max_depth?: number | null;
  max_pages?: number | null;
  same_domain_only?: boolean | null;
};
export type SpiderExtractResponse = { crawl_stats: SpiderCrawlPages; extracted_pages: SpiderExtractedPage[] };
export type SpiderExtractedPage = {
  url: string;
  final_url?: string;
  canonical_url?: string;
  depth?: number;
  status_code?: number;
  title?: string;
  content?: string;
  markdown?: string;
  links?: string[];
  mime?: string;
  charset?: string;
  fetch_time_ms?: number;
  robots_obeyed?: boolean;
  disallowed?: boolean;
  fetch_error?: string;
  parse_error?: string;
  truncated?: boolean;
  no_document?: NoDocumentReason;
  crawled_at?: string;
  status: ExtractedPageStatus;
  text?: string;
  html?: string;
  metadata?: ExtractedPageMetadata;
  error?: string;
  crawl_depth: number;
};
export type SpiderResultMode = "stats" | "urls" | "pages" | "stream" | "store";
export type SpiderStrategy = "breadth_first" | "bfs" | "depth_first" | "dfs" | "best_first";
export type Stats = { open: StatsOpen; tables: StatsTables };
export type StatsOpen = { jobs: StatsOpenJobs; urls: number; unembedded_chunks: number };
export type StatsOpenJobs = { pending: number; running: number; embedding: number };
export type StatsRecord = { type: "stats"; data: StatsRecordData };
export type StatsRecordData = {
  pages_crawled: number;
  pages_failed: number;
  duration_seconds: number;
  stop_reason: string;
  error?: string;
  waits?: JobWait[];
  refused_seeds?: RefusedSeed[];
};
export type StatsTables = {
  jobs: StatsTablesJobs;
  captures: StatsTablesJobs;
  documents: StatsTablesJobs;
  chunks: StatsTablesJobs;
  domain_counts: StatsTablesJobs;
  domain_settings: StatsTablesJobs;
  dead_letters: StatsTablesJobs;
};
export type StatsTablesJobs = { rows: number; estimated: boolean };
export type Storage = { items: StorageItem[]; warcFileCount: number; warcBytesTotal: number };
export type StorageItem = {
  sourceCode: string;
  jobs: number;
  warcFileCount: number;
  warcBytesTotal: number;
  temporaryBytes: number;
  cleanedJobs: number;
};
export type SubmitReportRequest = {
  category: ReportCategory;
  description: string;
  snapshotId?: number | null;
  originalUrl?: string | null;
  reporterEmail?: string | null;
  pageUrl?: string | null;
  website?: string | null;
};
export type SubmitReportResponse = { reportId: number; status: ReportStatus; receivedAt: string };
export type Tag = { id: string; name: string; documents: number; created_at: string };
export type TagDocumentRequest = { tags: string[] };
export type TagDocumentsRequest = { document_ids: string[]; add?: string[]; remove?: string[] };
export type TagDocumentsResponse = { changed: string[]; failed: FailedTag[] };
export type TagList = { items: Tag[]; next_cursor: string | null; has_more: boolean };
export type TakeScreenshotRequest = {
  url: string;
  wait_for?: string | null;
  respect_robots_txt?: boolean;
  viewport?: Viewport | null;
  mobile?: boolean;
  wait_seconds?: number;
  actions?: (WaitAction | WaitForAction | ClickAction | TypeAction | ScrollAction)[];
  full_page?: boolean;
  format?: TakeScreenshotRequestFormat;
};
export type TakeScreenshotRequestFormat = "png" | "jpeg" | "webp";
export type TestProxiesRequest = { proxy_id?: string; server?: CreateProxyRequestServer; url?: string };
export type TestProxiesResponse = { success: boolean; url: string; results: TestProxiesResponseResult[] };
export type TestProxiesResponseResult = {
  server: string;
  success: boolean;
  status: number | null;
  latency_ms: number;
  error_code: string | null;
  error: string | null;
};
export type TestWebhookResponse = { delivery_id: string; message: string };
export type TimeGate = { uri: string; datetime: string };
export type TimeMap = { original_uri: string };
export type TriggerSourceResponse = { job_id: string; status: JobStatus };
export type TypeAction = { type: "type"; selector: string; text: string };
export type UrlState = "pending" | "claimed" | "crawled" | "failed" | "skipped";
export type Usage = {
  key_id: string | null;
  from: string;
  to: string;
  totals: UsageTotals;
  stored_bytes: number;
  limits: UsageLimits | null;
  left: UsageLeft | null;
  days: UsageDay[];
};
export type UsageDay = {
  date: string;
  jobs: number;
  pages: number;
  fetched_bytes: number;
  documents: number;
  stored_bytes: number;
};
export type UsageLeft = { jobs: number | null; pages: number | null; stored_bytes: number | null; resets_at: string };
export type UsageLimits = {
  rate_limit_rpm: number;
  jobs_per_day: number | null;
  pages_per_day: number | null;
  max_stored_bytes: number | null;
};
export type UsageTotals = { jobs: number; pages: number; fetched_bytes: number; documents: number };
export type ValidateArchiveJobResponse = {
  sourceCode: string;
  engine: string;
  name: string;
  outputDir: string;
  config: ArchiveJobConfig;
};
export type VerifyWarcRun = { kind: "verify"; level?: VerifyWarcRunLevel; key?: string };
export type VerifyWarcRunLevel = "readable" | "gzip" | "parsed" | "digests";
export type Viewport = { width: number; height: number };
export type WaitAction = { type: "wait"; milliseconds: number };
export type WaitForAction = { type: "wait_for"; selector: string };
export type WarcFile = {
  key: string;
  bytes: number;
  sha256: string | null;
  records: number | null;
  captures: number;
  faults: number | null;
  writtenAt: string;
  verifiedAt: string | null;
  mergedInto: string | null;
  mergedOffset: number | null;
  unusedSince: string | null;
  removedAt: string | null;
};
export type WarcFileList = { items: WarcFile[]; next_cursor: string | null; has_more: boolean };
export type WarcImport = {
  id: string;
  jobId: string | null;
  key: string;
  bytes: number | null;
  sha256: string | null;
  status: WarcImportStatus;
  error: string | null;
  indexedBytes: number;
  records: Record<string, number>;
  captures: number;
  openCaptures: number;
  documents: number;
  danglingRevisits: number;
  signature: WarcImportSignature | null;
  complaintCount: number;
  createdAt: string;
  completedAt: string | null;
};
export type WarcImportComplaint = {
  code: string;
  message: string;
  offset: number;
  recordId: string | null;
  url: string | null;
};
export type WarcImportDetails = {
  id: string;
  jobId: string | null;
  key: string;
  bytes: number | null;
  sha256: string | null;
  status: WarcImportStatus;
  error: string | null;
  indexedBytes: number;
  records: Record<string, number>;
  captures: number;
  openCaptures: number;
  documents: number;
  danglingRevisits: number;
  signature: WarcImportSignature | null;
  complaintCount: number;
  createdAt: string;
  completedAt: string | null;
  complaints: WarcImportComplaint[];
};
export type WarcImportList = { items: WarcImport[]; next_cursor: string | null; has_more: boolean };
export type WarcImportSignature = {
  outcome: WarcImportSignatureOutcome;
  reason: string | null;
  signer: string | null;
  created: string | null;
};
export type WarcImportSignatureOutcome = "valid" | "invalid" | "untrusted" | "unsigned";
export type WarcImportStatus = "announced" | "pending" | "running" | "completed" | "failed";
export type WarcRun = {
  id: string;
  kind: WarcRunKind;
  options: Record<string, unknown>;
  status: WarcRunStatus;
  error: string | null;
  counts: Record<string, number>;
  faultCount: number;
  createdAt: string;
  completedAt: string | null;
};
export type WarcRunDetails = {
  id: string;
  kind: WarcRunKind;
  options: Record<string, unknown>;
  status: WarcRunStatus;
  error: string | null;
  counts: Record<string, number>;
  faultCount: number;
  createdAt: string;
  completedAt: string | null;
  faults: WarcRunFault[];
};
export type WarcRunFault = { key: string; code: string; message: string; offset: number | null };
export type WarcRunKind = "verify" | "consolidate" | "clean";
export type WarcRunList = { items: WarcRun[]; next_cursor: string | null; has_more: boolean };
export type WarcRunStatus = "pending" | "running" | "completed" | "failed";
export type Webhook = {
  id: string;
  job_id: string | null;
  source_id: string | null;
  url: string;
  header_names: string[];
  events: WebhookEvent[];
  is_active: boolean;
  stopped_reason: string | null;
  secret_count: number;
  created_at: string;
};
export type WebhookDelivery = {
  id: string;
  webhook_id: string;
  job_id: string | null;
  event: string;
  body: string;
  status: WebhookDeliveryStatus;
  attempts: number;
  max_attempts: number;
  next_attempt_at: string | null;
  tries: WebhookDeliveryTry[];
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  created_at: string;
  delivered_at: string | null;
};
export type WebhookDeliveryList = { items: WebhookDelivery[]; next_cursor: string | null; has_more: boolean };
export type WebhookDeliveryStatus = "pending" | "delivered" | "failed";
export type WebhookDeliveryTry = {
  at: string;
  attempt: number;
  status: number | null;
  error: string | null;
  duration_ms: number;
};
export type WebhookEvent = "crawl.completed" | "crawl.failed" | "crawl.cancelled" | "crawl.progress" | "page.changed";
export type WebhookList = { items: Webhook[]; next_cursor: string | null; has_more: boolean };

export interface Operations {
  crawlPages: { args: { body: CrawlPagesRequest }; answer: CrawlSiteResponse; event: never };
  crawlBatch: { args: { body: CrawlBatchRequest }; answer: CrawlBatchResponse; event: never };
  crawlSite: { args: { body: CrawlSiteRequest }; answer: CrawlSiteResponse; event: never };
  getCrawl: {
    args: { path: { job_id: string }; query?: { limit?: number; cursor?: string; frontier?: number } };
    answer: Crawl;
    event: never;
  };
  cancelCrawl: { args: { path: { job_id: string } }; answer: CrawlSiteResponse; event: never };
  listJobs: {
    args: {
      query?: {
        status?: "pending" | "running" | "embedding" | "completed" | "failed" | "cancelled";
        limit?: number;
        cursor?: string;
      };
    };
    answer: JobList;
    event: never;
  };
  listFailedJobs: { args: { query?: { limit?: number; cursor?: string } }; answer: FailedJobList; event: never };
  retryJob: {
    args: { path: { job_id: string }; query?: { only?: "all" | "transient" } };
    answer: RetryJobResponse;
    event: never;
  };
  spiderCrawl: {
    args: {
      query?: {
        result_mode?: "stats" | "urls" | "pages" | "stream" | "store";
        include?: string;
        exclude?: string;
        max_pages?: number;
        detach?: "true" | "1" | "false" | "0";
      };
      body: SpiderCrawlRequest;
    };
    answer: SpiderCrawlStats | SpiderCrawlUrls | SpiderCrawlPages | SpiderCrawlAccepted;
    event: PageRecord | StatsRecord | ErrorRecord;
  };
  streamSpiderPages: {
    args: { path: { job_id: string }; query?: { cursor?: number; include?: string; exclude?: string } };
    answer: string | undefined;
    event: PageRecord | StatsRecord | ErrorRecord;
  };
  streamJobPages: {
    args: { path: { job_id: string }; query?: { cursor?: number; include?: string; exclude?: string } };
    answer: string | undefined;
    event: PageRecord | StatsRecord | ErrorRecord;
  };
  listSpiderPages: {
    args: { path: { job_id: string }; query?: { cursor?: string; limit?: number; include?: string; exclude?: string } };
    answer: JobPageList;
    event: never;
  };
  listJobPages: {
    args: { path: { job_id: string }; query?: { cursor?: string; limit?: number; include?: string; exclude?: string } };
    answer: JobPageList;
    event: never;
  };
  getSpiderStats: { args: { path: { job_id: string } }; answer: JobStats; event: never };
  getJobStats: { args: { path: { job_id: string } }; answer: JobStats; event: never };
  extractBatch: { args: { body: ExtractBatchRequest }; answer: ExtractBatchResponse; event: never };
  spiderExtract: { args: { body: SpiderExtractRequest }; answer: SpiderExtractResponse; event: never };
  spiderExtractAlias: { args: { body: SpiderExtractRequest }; answer: SpiderExtractResponse; event: never };
  scrape: { args: { body: ScrapeRequest }; answer: ScrapeResponse; event: never };
  streamCrawlProgress: { args: { path: { job_id: string } }; answer: string | undefined; event: CrawlProgress };
  listWebhooks: {
    args: { query?: { job_id?: string; source_id?: string; limit?: number; cursor?: string } };
    answer: WebhookList;
    event: never;
  };
  createWebhook: { args: { body: CreateWebhookRequest }; answer: CreateWebhookResponse; event: never };
  getWebhook: { args: { path: { webhook_id: string } }; answer: Webhook; event: never };
  replaceWebhook: {
    args: { path: { webhook_id: string }; body: ReplaceWebhookRequest };
    answer: Webhook;
    event: never;
  };
  deleteWebhook: { args: { path: { webhook_id: string } }; answer: undefined; event: never };
  rotateWebhookSecret: {
    args: { path: { webhook_id: string }; body?: RotateWebhookSecretRequest };
    answer: CreateWebhookResponse;
    event: never;
  };
  testWebhook: { args: { path: { webhook_id: string } }; answer: TestWebhookResponse; event: never };
  listWebhookDeliveries: {
    args: {
      path: { webhook_id: string };
      query?: { status?: "pending" | "delivered" | "failed"; limit?: number; cursor?: string };
    };
    answer: WebhookDeliveryList;
    event: never;
  };
  redeliverWebhook: {
    args: { path: { webhook_id: string; delivery_id: string } };
    answer: WebhookDelivery;
    event: never;
  };
  takeScreenshot: { args: { body: TakeScreenshotRequest }; answer: PrintPdfResponse; event: never };
  printPdf: { args: { body: PrintPdfRequest }; answer: PrintPdfResponse; event: never };
  executeJavaScript: { args: { body: ExecuteJavaScriptRequest }; answer: ExecuteJavaScriptResponse; event: never };
  discoverUrls: { args: { body: DiscoverUrlsRequest }; answer: DiscoverUrlsResponse; event: never };
  scoreUrls: { args: { body: ScoreUrlsRequest }; answer: ScoreUrlsResponse; event: never };
  getDiscovery: {
    args: { path: { job_id: string }; query?: { limit?: number; cursor?: string } };
    answer: Discovery;
    event: never;
  };
  createSearchRun: { args: { body: CreateSearchRunRequest }; answer: CreateSearchRunResponse; event: never };
  listSearchRuns: {
    args: { query?: { query?: string; from?: string; to?: string; limit?: number; cursor?: string } };
    answer: SearchRunList;
    event: never;
  };
  getSearchRun: { args: { path: { run_id: string } }; answer: SearchRun; event: never };
  crawlSearchRun: {
    args: { path: { run_id: string }; body?: CrawlSearchRunRequest };
    answer: CrawlSearchRunResponse;
    event: never;
  };
  getSearchRunsHealth: { args: { path?: never }; answer: SearchRunsHealth; event: never };
  search: { args: { body: SearchRequest }; answer: SearchResponse; event: never };
  searchVectors: { args: { body: SearchVectorsRequest }; answer: SearchResponse; event: never };
  searchKeywords: { args: { body: SearchVectorsRequest }; answer: SearchResponse; event: never };
  buildContext: { args: { body: BuildContextRequest }; answer: Context; event: never };
  sendMcpMessage: {
    args: { body?: McpMessage | McpMessage[] };
    answer: McpMessage | McpMessage[] | undefined;
    event: never;
  };
  openMcpStream: { args: { path?: never }; answer: undefined; event: never };
  getLlmsText: {
    args: {
      query: { domain: string; collection_id?: string; full?: "true" | "false"; limit?: number; cursor?: string };
    };
    answer: LlmsText;
    event: never;
  };
  listChunkSizes: { args: { path?: never }; answer: ChunkSizeList; event: never };
  changeChunkSize: { args: { body: ChangeChunkSizeRequest }; answer: ChunkSizeList; event: never };
  listDocuments: {
    args: {
      query?: {
        collection_id?: string;
        tags?: string;
        domain?: string;
        source?: "crawl" | "upload" | "api";
        language?: string;
        url?: string;
        url_prefix?: string;
        job_id?: string;
        date_from?: string;
        date_to?: string;
        deleted?: "true" | "false";
        limit?: number;
        cursor?: string;
        count?: "true" | "false";
      };
    };
    answer: DocumentList;
    event: never;
  };
  addDocument: { args: { body: AddDocumentRequest }; answer: AddDocumentResponse; event: never };
  getDocument: { args: { path: { document_id: string } }; answer: DocumentDetails; event: never };
  deleteDocument: { args: { path: { document_id: string } }; answer: undefined; event: never };
  listChunks: {
    args: { path: { document_id: string }; query?: { limit?: number; cursor?: string } };
    answer: ChunkList;
    event: never;
  };
  createDocumentUpload: {
    args: { body: CreateDocumentUploadRequest };
    answer: CreateDocumentUploadResponse;
    event: never;
  };
  addDocuments: { args: { body: AddDocumentsRequest }; answer: AddDocumentsResponse; event: never };
  deleteDocumentPermanently: { args: { path: { document_id: string } }; answer: undefined; event: never };
  deleteDocuments: { args: { body: DeleteDocumentsRequest }; answer: TagDocumentsResponse; event: never };
  restoreDocument: { args: { path: { document_id: string } }; answer: Document; event: never };
  reindexDocument: { args: { path: { document_id: string } }; answer: TagDocumentsResponse; event: never };
  tagDocument: { args: { path: { document_id: string }; body: TagDocumentRequest }; answer: Document; event: never };
  untagDocument: { args: { path: { document_id: string; tag_id: string } }; answer: undefined; event: never };
  tagDocuments: { args: { body: TagDocumentsRequest }; answer: TagDocumentsResponse; event: never };
  reconcileVectors: { args: { body?: ReconcileVectorsRequest }; answer: ReconcileVectorsResponse; event: never };
  listSections: {
    args: { path: { document_id: string }; query?: { limit?: number; cursor?: string } };
    answer: SectionList;
    event: never;
  };
  getSection: { args: { path: { document_id: string; position: number } }; answer: Section; event: never };
  exportDocuments: { args: { body?: ExportDocumentsRequest }; answer: ExportDocumentsResponse; event: never };
  importDocuments: { args: { body: ImportDocumentsRequest }; answer: ImportDocumentsResponse; event: never };
  createCollection: { args: { body: CreateCollectionRequest }; answer: Collection; event: never };
  listCollections: { args: { query?: { limit?: number; cursor?: string } }; answer: CollectionList; event: never };
  getCollection: { args: { path: { collection_id: string } }; answer: Collection; event: never };
  replaceCollection: {
    args: { path: { collection_id: string }; body: CreateCollectionRequest };
    answer: Collection;
    event: never;
  };
  deleteCollection: {
    args: { path: { collection_id: string }; query?: { delete_documents?: "true" | "false" } };
    answer: undefined;
    event: never;
  };
  addToCollection: {
    args: { path: { collection_id: string }; body: DeleteDocumentsRequest };
    answer: TagDocumentsResponse;
    event: never;
  };
  removeFromCollection: {
    args: { path: { collection_id: string }; body: DeleteDocumentsRequest };
    answer: TagDocumentsResponse;
    event: never;
  };
  reindexCollection: {
    args: { path: { collection_id: string }; query?: { cursor?: string } };
    answer: ReindexCollectionResponse;
    event: never;
  };
  createTag: { args: { body: CreateTagRequest }; answer: Tag; event: never };
  listTags: { args: { query?: { limit?: number; cursor?: string } }; answer: TagList; event: never };
  deleteTag: { args: { path: { tag_id: string } }; answer: undefined; event: never };
  listGenerations: {
    args: { query?: { host?: string; collection_id?: string; limit?: number; cursor?: string } };
    answer: GenerationList;
    event: never;
  };
  getGeneration: { args: { path: { generation_id: string } }; answer: Generation; event: never };
  activateGeneration: { args: { path: { generation_id: string } }; answer: Generation; event: never };
  compareGenerations: {
    args: {
      path: { generation_id: string; other_id: string };
      query?: { text?: "true" | "false"; limit?: number; cursor?: string };
    };
    answer: GenerationDifferenceList;
    event: never;
  };
  listEmbeddingModels: { args: { path?: never }; answer: EmbeddingModelList; event: never };
  changeEmbeddingModel: { args: { body: ChangeEmbeddingModelRequest }; answer: EmbeddingModelList; event: never };
  listWarcImports: { args: { query?: { limit?: number; cursor?: string } }; answer: WarcImportList; event: never };
  importWarc: {
    args: { body: ImportWarcFromKey | ImportWarcUpload };
    answer: ImportWarcResponsePUT | WarcImport;
    event: never;
  };
  getWarcImport: { args: { path: { id: string } }; answer: WarcImportDetails; event: never };
  listWarcFiles: {
    args: { query?: { limit?: number; unused?: "true" | "false"; cursor?: string } };
    answer: WarcFileList;
    event: never;
  };
  listWarcRuns: { args: { query?: { limit?: number; cursor?: string } }; answer: WarcRunList; event: never };
  startWarcRun: { args: { body: VerifyWarcRun | ConsolidateWarcRun | CleanWarcRun }; answer: WarcRun; event: never };
  getWarcRun: { args: { path: { id: string } }; answer: WarcRunDetails; event: never };
  listExclusions: { args: { query?: { limit?: number; cursor?: string } }; answer: ExclusionList; event: never };
  createExclusion: { args: { body: CreateExclusionRequest }; answer: CreateExclusionResponse; event: never };
  deleteExclusion: { args: { path: { id: string } }; answer: undefined; event: never };
  listArchiveSources: { args: { query?: { lang?: "en" | "fr" } }; answer: ArchiveSource[]; event: never };
  getArchiveSource: {
    args: { path: { code: string }; query?: { lang?: "en" | "fr" } };
    answer: ArchiveSource;
    event: never;
  };
  listEditions: { args: { path: { code: string }; query?: { lang?: "en" | "fr" } }; answer: Edition[]; event: never };
  getSourcePreview: {
    args: { path: { code: string }; query?: { jobId?: number; lang?: "en" | "fr" } };
    answer: string;
    event: never;
  };
  getArchiveUsage: { args: { path?: never }; answer: ArchiveUsage; event: never };
  listAdminSources: { args: { path?: never }; answer: AdminSourceList; event: never };
  saveAdminSource: { args: { body?: SaveAdminSourceRequest }; answer: SaveAdminSourceResponse; event: never };
  getMetrics: { args: { path?: never }; answer: string; event: never };
  listArchiveJobs: {
    args: {
      query?: {
        source?: string;
        status?: "queued" | "running" | "retryable" | "failed" | "completed" | "indexing" | "indexed" | "index_failed";
        limit?: number;
        offset?: number;
      };
    };
    answer: ArchiveJobList;
    event: never;
  };
  createArchiveJob: { args: { body: CreateArchiveJobRequest }; answer: ArchiveJob; event: never };
  countArchiveJobs: { args: { path?: never }; answer: CountArchiveJobsResponse; event: never };
  validateArchiveJob: { args: { body: CreateArchiveJobRequest }; answer: ValidateArchiveJobResponse; event: never };
  registerArchiveJob: { args: { body: RegisterArchiveJobRequest }; answer: ArchiveJob; event: never };
  getArchiveJob: { args: { path: { id: number } }; answer: ArchiveJob; event: never };
  listArchiveJobSnapshots: {
    args: { path: { id: number }; query?: { limit?: number; offset?: number } };
    answer: ArchiveJobSnapshot[];
    event: never;
  };
  retryArchiveJob: { args: { path: { id: number }; body?: RetryArchiveJobRequest }; answer: ArchiveJob; event: never };
  indexArchiveJob: { args: { path: { id: number }; body?: RetryArchiveJobRequest }; answer: ArchiveJob; event: never };
  cleanUpArchiveJob: {
    args: { path: { id: number }; body?: CleanUpArchiveJobRequest };
    answer: CleanUpArchiveJobResponse;
    event: never;
  };
  getStorage: { args: { path?: never }; answer: Storage; event: never };
  computeChanges: { args: { body?: ComputeChangesRequest }; answer: ComputeChangesResponse; event: never };
  submitReport: { args: { body: SubmitReportRequest }; answer: SubmitReportResponse; event: never };
  listReports: {
    args: {
      query?: {
        status?: "new" | "triaged" | "resolved" | "dismissed";
        category?: "broken_snapshot" | "incorrect_metadata" | "missing_snapshot" | "takedown" | "general_feedback";
        limit?: number;
        offset?: number;
      };
    };
    answer: ReportList;
    event: never;
  };
  getReport: { args: { path: { id: number } }; answer: Report; event: never };
  listChanges: {
    args: {
      query?: {
        source?: string;
        jobId?: number;
        latest?: string;
        includeUnchanged?: string;
        from?: string;
        to?: string;
        page?: number;
        pageSize?: number;
      };
    };
    answer: ChangeList;
    event: never;
  };
  compareSnapshots: {
    args: { query: { toSnapshotId: number; fromSnapshotId?: number; layout?: "unified" | "side-by-side" } };
    answer: SnapshotComparison;
    event: never;
  };
  getChangesFeed: { args: { query?: { source?: string } }; answer: string; event: never };
  compareWithLivePage: {
    args: { path: { id: number }; query?: { mode?: "main" | "full"; layout?: "unified" | "side-by-side" } };
    answer: LiveComparison;
    event: never;
  };
  searchArchive: {
    args: {
      query?: {
        q?: string;
        source?: string;
        sort?: "relevance" | "newest";
        view?: "snapshots" | "pages";
        includeNon2xx?: string;
        includeDuplicates?: string;
        from?: string;
        to?: string;
        page?: number;
        pageSize?: number;
        ranking?: "v1" | "v2";
      };
    };
    answer: ArchiveSearchResponse;
    event: never;
  };
  debugArchiveSearch: {
    args: {
      query?: {
        q?: string;
        source?: string;
        sort?: "relevance" | "newest";
        view?: "snapshots" | "pages";
        includeNon2xx?: string;
        includeDuplicates?: string;
        from?: string;
        to?: string;
        page?: number;
        pageSize?: number;
        ranking?: "v1" | "v2";
      };
    };
    answer: DebugArchiveSearchResponse;
    event: never;
  };
  getExportManifest: { args: { path?: never }; answer: ExportManifest; event: never };
  exportSnapshots: {
    args: {
      query?: {
        format?: "jsonl" | "ndjson" | "csv";
        compressed?: string;
        source?: string;
        afterId?: number;
        limit?: number;
        from?: string;
        to?: string;
      };
    };
    answer: string;
    event: never;
  };
  exportChanges: {
    args: {
      query?: {
        format?: "jsonl" | "ndjson" | "csv";
        compressed?: string;
        source?: string;
        afterId?: number;
        limit?: number;
        from?: string;
        to?: string;
      };
    };
    answer: string;
    event: never;
  };
  queryCdx: {
    args: {
      query: {
        url: string;
        matchType?: "exact" | "prefix" | "host" | "domain";
        from?: string;
        to?: string;
        filter?: string[] | string;
        fl?: string;
        collapse?: string[] | string;
        limit?: number;
        sort?: "default" | "reverse" | "closest";
        closest?: string;
        resolveRevisits?: "0" | "1" | "true" | "false";
        output?: "text" | "cdxj" | "json" | "ndjson";
        showResumeKey?: "0" | "1" | "true" | "false";
        resumeKey?: string;
      };
    };
    answer: string[][];
    event: never;
  };
  getTimeGate: { args: { path: { url: string } }; answer: undefined; event: never };
  getTimeMapLinks: { args: { path: { url: string } }; answer: string; event: never };
  getTimeMap: { args: { path: { url: string } }; answer: TimeMap; event: never };
  listPackages: { args: { query?: { limit?: number; cursor?: string } }; answer: PackageList; event: never };
  createPackage: { args: { body: PackageOfJob | PackageOfUrls }; answer: Package; event: never };
  getPackage: { args: { path: { id: string } }; answer: PackageDetails; event: never };
  deletePackage: { args: { path: { id: string } }; answer: undefined; event: never };
  getArchiveHealth: { args: { path?: never }; answer: ArchiveHealth; event: never };
  getArchiveStats: { args: { path?: never }; answer: ArchiveStats; event: never };
  getSnapshot: { args: { path: { id: number } }; answer: Snapshot; event: never };
  getSnapshotContent: { args: { path: { id: number } }; answer: string; event: never };
  listSnapshotTimeline: {
    args: { path: { id: number }; query?: { order?: "oldest" | "newest" } };
    answer: SnapshotTimeline;
    event: never;
  };
  getLatestSnapshot: {
    args: { path: { id: number }; query?: { requireHtml?: string } };
    answer: LatestSnapshot;
    event: never;
  };
  resolveReplay: {
    args: { query: { url: string; timestamp?: string; jobId?: string } };
    answer: ResolveReplayResponse;
    event: never;
  };
  createApiKey: { args: { body: CreateApiKeyRequest }; answer: CreateApiKeyResponse; event: never };
  listApiKeys: { args: { query?: { limit?: number; cursor?: string } }; answer: ApiKeyList; event: never };
  getOwnApiKey: { args: { path?: never }; answer: OwnApiKey; event: never };
  limitApiKey: { args: { path: { key_id: string }; body: LimitApiKeyRequest }; answer: ApiKey; event: never };
  revokeApiKey: { args: { path: { key_id: string } }; answer: undefined; event: never };
  getUsage: { args: { query?: { key_id?: string | "all"; from?: string; to?: string } }; answer: Usage; event: never };
  createConfig: { args: { body: CreateConfigRequest }; answer: Config; event: never };
  listConfigs: { args: { query?: { limit?: number; cursor?: string } }; answer: ConfigList; event: never };
  getConfig: { args: { path: { config_id: string } }; answer: Config; event: never };
  replaceConfig: { args: { path: { config_id: string }; body: CreateConfigRequest }; answer: Config; event: never };
  deleteConfig: { args: { path: { config_id: string } }; answer: undefined; event: never };
  createSource: { args: { body: CreateSourceRequest }; answer: Source; event: never };
  listSources: { args: { query?: { limit?: number; cursor?: string } }; answer: SourceList; event: never };
  getSource: { args: { path: { source_id: string } }; answer: SourceDetails; event: never };
  replaceSource: { args: { path: { source_id: string }; body: CreateSourceRequest }; answer: Source; event: never };
  deleteSource: { args: { path: { source_id: string } }; answer: undefined; event: never };
  listSourceRuns: {
    args: { path: { source_id: string }; query?: { limit?: number; cursor?: string } };
    answer: SourceRunList;
    event: never;
  };
  triggerSource: { args: { path: { source_id: string } }; answer: TriggerSourceResponse; event: never };
  listDomains: {
    args: { query?: { blocked?: "true" | "false"; limit?: number; cursor?: string } };
    answer: DomainList;
    event: never;
  };
  getDomain: { args: { path: { domain: string } }; answer: Domain; event: never };
  saveDomain: { args: { path: { domain: string }; body: SaveDomainRequest }; answer: Domain; event: never };
  blockDomain: { args: { path: { domain: string }; body?: BlockDomainRequest }; answer: Domain; event: never };
  unblockDomain: { args: { path: { domain: string } }; answer: Domain; event: never };
  resetDomain: { args: { path: { domain: string } }; answer: Domain; event: never };
  clearCrawlCache: { args: { path?: never }; answer: ClearCrawlCacheResponse; event: never };
  clearQueryCache: { args: { path?: never }; answer: ClearCrawlCacheResponse; event: never };
  clearEmbeddingCache: { args: { path?: never }; answer: ClearCrawlCacheResponse; event: never };
  clearDomainCache: { args: { path: { domain: string } }; answer: ClearCrawlCacheResponse; event: never };
  getCacheStats: { args: { path?: never }; answer: CacheStats; event: never };
  getStats: { args: { path?: never }; answer: Stats; event: never };
  listDomainStats: { args: { query?: { limit?: number; cursor?: string } }; answer: DomainStatList; event: never };
  listProxies: { args: { query?: { limit?: number; cursor?: string } }; answer: ProxyList; event: never };
  createProxy: { args: { body: CreateProxyRequest }; answer: Proxy; event: never };
  getProxy: { args: { path: { id: string } }; answer: Proxy; event: never };
  replaceProxy: { args: { path: { id: string }; body: CreateProxyRequest }; answer: Proxy; event: never };
  deleteProxy: { args: { path: { id: string } }; answer: undefined; event: never };
  testProxies: { args: { body: TestProxiesRequest }; answer: TestProxiesResponse; event: never };
  getHealth: { args: { path?: never }; answer: Health; event: never };
  getReadiness: { args: { path?: never }; answer: Readiness; event: never };
  getEntrance: { args: { path?: never }; answer: Entrance; event: never };
  getOpenApiDocument: { args: { path?: never }; answer: OpenApiDocument; event: never };
  getReference: { args: { path?: never }; answer: string; event: never };
  getReferencePage: { args: { path: { page: string } }; answer: string; event: never };
}
