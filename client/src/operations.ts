/** Generated from the OpenAPI document by client/generate.ts. */
import type { Operations } from "./types.ts";

export interface Endpoint {
  method: string;
  path: string;
  /** Takes an `Idempotency-Key`. */
  idempotent?: true;
  /** Changes nothing, although it is a POST. */
  reads?: true;
  /** Gives server-sent events. */
  events?: true;
}

export const OPERATIONS: Readonly<Record<keyof Operations, Endpoint>> = {
  /** Crawl the given pages, as one job */
  crawlPages: { method: "POST", path: "/api/v1/crawl", idempotent: true },
  /** Crawl up to 100 pages, as a job each; a URL that is refused fails alone */
  crawlBatch: { method: "POST", path: "/api/v1/crawl/batch", idempotent: true },
  /** Crawl a site from one page: breadth first, depth first, or best first by keywords; on its host, its domain, or below its path */
  crawlSite: { method: "POST", path: "/api/v1/crawl/deep", idempotent: true },
  /** A job: its state, counts and stop reason, and page by page what became of its URLs */
  getCrawl: { method: "GET", path: "/api/v1/crawl/{job_id}" },
  /** Cancel a job; what it fetched so far stays in the archive */
  cancelCrawl: { method: "POST", path: "/api/v1/crawl/{job_id}/cancel" },
  /** Jobs, newest first */
  listJobs: { method: "GET", path: "/api/v1/jobs" },
  /** Jobs that failed, have failed URLs or dead letters, newest first, with the error codes counted */
  listFailedJobs: { method: "GET", path: "/api/v1/jobs/failed" },
  /** Run a failed job again, or the failed URLs of one that completed, as a job of its own */
  retryJob: { method: "POST", path: "/api/v1/jobs/{job_id}/retry" },
  /** Crawl from seeds; the answer is statistics, URLs, pages, a stream of pages, or (202) a job that stores them */
  spiderCrawl: { method: "POST", path: "/spider/crawl", idempotent: true, events: true },
  /** The results of a job as a stream, from a cursor on; 204 to a Last-Event-ID that says that all was seen */
  streamSpiderPages: { method: "GET", path: "/jobs/{job_id}/stream", events: true },
  /** The results of a job as a stream, from a cursor on; 204 to a Last-Event-ID that says that all was seen */
  streamJobPages: { method: "GET", path: "/api/v1/jobs/{job_id}/stream", events: true },
  /** The pages of a job, each once, in the order in which they ended; while the job runs, too */
  listSpiderPages: { method: "GET", path: "/jobs/{job_id}/results" },
  /** The pages of a job, each once, in the order in which they ended; while the job runs, too */
  listJobPages: { method: "GET", path: "/api/v1/jobs/{job_id}/results" },
  /** What a job has done so far, and why it stopped */
  getSpiderStats: { method: "GET", path: "/jobs/{job_id}/stats" },
  /** What a job has done so far, and why it stopped */
  getJobStats: { method: "GET", path: "/api/v1/jobs/{job_id}/stats" },
  /** The main content of up to 100 pages as Markdown, text or HTML; a page that fails fails alone */
  extractBatch: { method: "POST", path: "/extract/batch", idempotent: true },
  /** Crawl from seeds, and extract the content of the pages whose URL matches a pattern */
  spiderExtract: { method: "POST", path: "/spider/extract", idempotent: true },
  /** Crawl from seeds, and extract the content of the pages whose URL matches a pattern */
  spiderExtractAlias: { method: "POST", path: "/spider+extract", idempotent: true },
  /** One page in several formats at once: Markdown, text, HTML, links, metadata, fields by a schema */
  scrape: { method: "POST", path: "/api/v1/scrape", idempotent: true },
  /** The progress of a job as server-sent events, until it ends; 204 where `Last-Event-ID` names its last event */
  streamCrawlProgress: { method: "GET", path: "/api/v1/crawl/{job_id}/stream", events: true },
  /** Webhooks, newest first: the standing ones, of all jobs or of one source, or those of one job */
  listWebhooks: { method: "GET", path: "/api/v1/webhooks" },
  /** Create a webhook; the answer is the only place that ever shows its secret */
  createWebhook: { method: "POST", path: "/api/v1/webhooks" },
  /** One webhook, without its secrets */
  getWebhook: { method: "GET", path: "/api/v1/webhooks/{webhook_id}" },
  /** Change a webhook, or make it active again; headers that are left out stay */
  replaceWebhook: { method: "PUT", path: "/api/v1/webhooks/{webhook_id}" },
  /** Remove a webhook with its deliveries */
  deleteWebhook: { method: "DELETE", path: "/api/v1/webhooks/{webhook_id}" },
  /** Sign with another secret, and for a while with the one before it as well; it is shown once */
  rotateWebhookSecret: { method: "POST", path: "/api/v1/webhooks/{webhook_id}/rotate" },
  /** Deliver a test event, once, whether the webhook is active or not */
  testWebhook: { method: "POST", path: "/api/v1/webhooks/{webhook_id}/test" },
  /** Deliveries of the last 30 days, newest first, with each attempt */
  listWebhookDeliveries: { method: "GET", path: "/api/v1/webhooks/{webhook_id}/deliveries" },
  /** Make a delivery once more, with the same id and body */
  redeliverWebhook: { method: "POST", path: "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver" },
  /** A picture of a page; the link to it works for an hour */
  takeScreenshot: { method: "POST", path: "/api/v1/screenshot" },
  /** A page as PDF; the link to it works for an hour */
  printPdf: { method: "POST", path: "/api/v1/pdf" },
  /** Run scripts in a page, one after the other, and tell what each returned */
  executeJavaScript: { method: "POST", path: "/api/v1/execute-js" },
  /** Find the URLs of a site in its sitemaps and feeds, and in Common Crawl's index */
  discoverUrls: { method: "POST", path: "/api/v1/discover", idempotent: true },
  /** Score URLs, with their titles where they are known, by their relevance for a query */
  scoreUrls: { method: "POST", path: "/api/v1/discover/score", reads: true },
  /** A discovery job: its state, what it could not read, and page by page the URLs that it found */
  getDiscovery: { method: "GET", path: "/api/v1/discover/{job_id}" },
  /** Harvest URLs: the question is rewritten, all search providers are asked at once, what they find is merged */
  createSearchRun: { method: "POST", path: "/search-runs", idempotent: true },
  /** Runs, newest first, by their question and their time */
  listSearchRuns: { method: "GET", path: "/search-runs" },
  /** A run and its merged list */
  getSearchRun: { method: "GET", path: "/search-runs/{run_id}" },
  /** Crawl the URLs of a run, as one job */
  crawlSearchRun: { method: "POST", path: "/search-runs/{run_id}/crawl", idempotent: true },
  /** Whether the harvester can work */
  getSearchRunsHealth: { method: "GET", path: "/healthz" },
  /** Search by words and by meaning, fused into one ranking */
  search: { method: "POST", path: "/api/v1/search", reads: true },
  /** Search by meaning */
  searchVectors: { method: "POST", path: "/api/v1/search/vector", reads: true },
  /** Search by words */
  searchKeywords: { method: "POST", path: "/api/v1/search/keyword", reads: true },
  /** What a language model needs to answer a question, within a budget of tokens, with numbered sources */
  buildContext: { method: "POST", path: "/api/v1/context", reads: true },
  /** A message of the Model Context Protocol, and its answer */
  sendMcpMessage: { method: "POST", path: "/mcp" },
  /** No stream is offered: 405 */
  openMcpStream: { method: "GET", path: "/mcp" },
  /** The pages of a host as llms.txt, or with their texts as llms-full.txt, a part at a time */
  getLlmsText: { method: "GET", path: "/api/v1/documents/llms" },
  /** The chunk sizes that documents are cut to, and how far a change to another one is */
  listChunkSizes: { method: "GET", path: "/api/v1/documents/chunk-sizes" },
  /** Cut all documents to another chunk size in the background, pause that, or go back to a size that is kept */
  changeChunkSize: { method: "POST", path: "/api/v1/documents/chunk-sizes" },
  /** The documents that can be found, newest first; or those that were deleted */
  listDocuments: { method: "GET", path: "/api/v1/documents" },
  /** Store a document of one's own: Markdown, HTML, plain text, PDF or DOCX */
  addDocument: { method: "POST", path: "/api/v1/documents" },
  /** A document with its text and its first chunks */
  getDocument: { method: "GET", path: "/api/v1/documents/{document_id}" },
  /** Delete a document: nothing finds it, and no crawl brings it back; it can be restored for 30 days */
  deleteDocument: { method: "DELETE", path: "/api/v1/documents/{document_id}" },
  /** The chunks of a document in the order of its text */
  listChunks: { method: "GET", path: "/api/v1/documents/{document_id}/chunks" },
  /** Say where a file is to be PUT that is larger than a request may be: a document is made of its upload_id */
  createDocumentUpload: { method: "POST", path: "/api/v1/documents/uploads" },
  /** Store up to 50 documents; one that fails leaves the others alone */
  addDocuments: { method: "POST", path: "/api/v1/documents/batch" },
  /** Delete a document for good, deleted before or not */
  deleteDocumentPermanently: { method: "DELETE", path: "/api/v1/documents/{document_id}/permanently" },
  /** Delete up to 1,000 documents */
  deleteDocuments: { method: "POST", path: "/api/v1/documents/delete" },
  /** Show a deleted document again; crawls may replace it again */
  restoreDocument: { method: "POST", path: "/api/v1/documents/{document_id}/restore" },
  /** Make the vectors of a document anew, by the model that is configured */
  reindexDocument: { method: "POST", path: "/api/v1/documents/{document_id}/reindex" },
  /** Add tags to a document, by name; those that are missing are made */
  tagDocument: { method: "POST", path: "/api/v1/documents/{document_id}/tags" },
  /** Take a tag from a document */
  untagDocument: { method: "DELETE", path: "/api/v1/documents/{document_id}/tags/{tag_id}" },
  /** Add tags to up to 1,000 documents, and take others from them */
  tagDocuments: { method: "POST", path: "/api/v1/documents/tags" },
  /** Compare the vector store with the rows: points without a chunk go, lost and stale ones are made again */
  reconcileVectors: { method: "POST", path: "/api/v1/documents/reconcile" },
  /** The sections of a document: a tree in the order of the text, parents before their children */
  listSections: { method: "GET", path: "/api/v1/documents/{document_id}/sections" },
  /** A section with all that stands below it, as Markdown */
  getSection: { method: "GET", path: "/api/v1/documents/{document_id}/sections/{position}" },
  /** Documents with chunks, sections, tags and vectors as lines of JSON, packed: a part, and where the next begins */
  exportDocuments: { method: "POST", path: "/api/v1/documents/export", reads: true },
  /** Store documents that were exported; a line that fails leaves the others alone */
  importDocuments: { method: "POST", path: "/api/v1/documents/import" },
  /** Make a collection, which crawls, uploads and moves can fill */
  createCollection: { method: "POST", path: "/api/v1/collections" },
  /** The collections, newest first, with how many documents of each can be found */
  listCollections: { method: "GET", path: "/api/v1/collections" },
  /** A collection */
  getCollection: { method: "GET", path: "/api/v1/collections/{collection_id}" },
  /** Rename or describe a collection, or change its defaults; its documents stay as they are */
  replaceCollection: { method: "PUT", path: "/api/v1/collections/{collection_id}" },
  /** Delete a collection that is empty, or with its documents */
  deleteCollection: { method: "DELETE", path: "/api/v1/collections/{collection_id}" },
  /** Move documents into a collection; searches see it when the answer comes */
  addToCollection: { method: "POST", path: "/api/v1/collections/{collection_id}/documents" },
  /** Take documents out of a collection; they can still be found outside of it */
  removeFromCollection: { method: "POST", path: "/api/v1/collections/{collection_id}/documents/remove" },
  /** Cut a collection anew as its defaults say by now, and make its vectors anew: up to 200 documents a request */
  reindexCollection: { method: "POST", path: "/api/v1/collections/{collection_id}/reindex" },
  /** Make a tag, or find it where it is there */
  createTag: { method: "POST", path: "/api/v1/tags" },
  /** The tags by name, with how many documents that can be found have each */
  listTags: { method: "GET", path: "/api/v1/tags" },
  /** Delete a tag, and take it from all documents */
  deleteTag: { method: "DELETE", path: "/api/v1/tags/{tag_id}" },
  /** The generations that crawls have made visible, newest first */
  listGenerations: { method: "GET", path: "/api/v1/generations" },
  /** A generation */
  getGeneration: { method: "GET", path: "/api/v1/generations/{generation_id}" },
  /** Show a generation again that was replaced and is kept; readers see all of the one or all of the other */
  activateGeneration: { method: "POST", path: "/api/v1/generations/{generation_id}/activate" },
  /** Pages that the second generation has added, removed and changed, with their lines */
  compareGenerations: { method: "GET", path: "/api/v1/generations/{generation_id}/diff/{other_id}" },
  /** The models whose vectors are stored, and how far a change to another one is */
  listEmbeddingModels: { method: "GET", path: "/api/v1/embedding-models" },
  /** Pause a change of the embedding model, let it go on, or have a model answer again whose vectors are kept */
  changeEmbeddingModel: { method: "POST", path: "/api/v1/embedding-models" },
  /** WARC imports, newest first */
  listWarcImports: { method: "GET", path: "/api/admin/warcs" },
  /** Import a WARC file: an object of the bucket, or a file for which the answer says where to upload it */
  importWarc: { method: "POST", path: "/api/admin/warcs", idempotent: true },
  /** One WARC import: its state, its counts, and what was wrong with the file */
  getWarcImport: { method: "GET", path: "/api/admin/warcs/{id}" },
  /** The WARC files of the archive, and how many captures point at each */
  listWarcFiles: { method: "GET", path: "/api/admin/warc-files" },
  /** Work on the WARC files, newest first */
  listWarcRuns: { method: "GET", path: "/api/admin/warc-runs" },
  /** Verify the WARC files, copy small ones into large ones, or delete those that nothing needs */
  startWarcRun: { method: "POST", path: "/api/admin/warc-runs", idempotent: true },
  /** One such piece of work: how it goes, and what was wrong with which file */
  getWarcRun: { method: "GET", path: "/api/admin/warc-runs/{id}" },
  /** What the archive's readers are not shown, newest first */
  listExclusions: { method: "GET", path: "/api/admin/exclusions" },
  /** Keep captures of URLs from the archive's readers at once, or those that are younger than so many days */
  createExclusion: { method: "POST", path: "/api/admin/exclusions" },
  /** Show again what an exclusion kept from readers */
  deleteExclusion: { method: "DELETE", path: "/api/admin/exclusions/{id}" },
  /** Sources of which there are snapshots, with their totals; hosts that belong to none stand behind them */
  listArchiveSources: { method: "GET", path: "/api/sources" },
  /** One source with its totals */
  getArchiveSource: { method: "GET", path: "/api/sources/{code}" },
  /** What each archive job of a source has captured, newest first */
  listEditions: { method: "GET", path: "/api/sources/{code}/editions" },
  /** A picture of the entry page of an edition of the source, of the newest one where no job is named */
  getSourcePreview: { method: "GET", path: "/api/sources/{code}/preview" },
  /** How often the archive was asked, in the last 30 days and on each of them */
  getArchiveUsage: { method: "GET", path: "/api/usage" },
  /** The registry of sources */
  listAdminSources: { method: "GET", path: "/api/admin/sources" },
  /** Write sources, all or none; without any, those that an archive begins with, where they are not there yet */
  saveAdminSource: { method: "POST", path: "/api/admin/sources" },
  /** What the archive holds and does, for Prometheus */
  getMetrics: { method: "GET", path: "/metrics" },
  /** Archive jobs, newest first */
  listArchiveJobs: { method: "GET", path: "/api/admin/jobs" },
  /** Make an archive job of a source: it begins within a minute */
  createArchiveJob: { method: "POST", path: "/api/admin/jobs", idempotent: true },
  /** How many archive jobs are in which state */
  countArchiveJobs: { method: "GET", path: "/api/admin/jobs/status-counts" },
  /** What such an archive job would be, without making it */
  validateArchiveJob: { method: "POST", path: "/api/admin/jobs/validate-config" },
  /** Make an archive job of WARC or WACZ files that lie in the bucket: they are indexed, and belong to its source */
  registerArchiveJob: { method: "POST", path: "/api/admin/jobs/register", idempotent: true },
  /** One archive job */
  getArchiveJob: { method: "GET", path: "/api/admin/jobs/{id}" },
  /** The snapshots of an archive job, newest first */
  listArchiveJobSnapshots: { method: "GET", path: "/api/admin/jobs/{id}/snapshots" },
  /** Crawl a failed job again, or index an index_failed one again */
  retryArchiveJob: { method: "POST", path: "/api/admin/jobs/{id}/retry" },
  /** Index and compare anew what a job has captured */
  indexArchiveJob: { method: "POST", path: "/api/admin/jobs/{id}/index" },
  /** Delete the temporary files of a job that is done with, unless anything depends on them */
  cleanUpArchiveJob: { method: "POST", path: "/api/admin/jobs/{id}/cleanup" },
  /** What sources and their archive jobs take in the bucket, counted anew */
  getStorage: { method: "GET", path: "/api/admin/storage" },
  /** Have captures compared again, of one source or all: events whose captures are the same stay as they are */
  computeChanges: { method: "POST", path: "/api/admin/changes/compute" },
  /** Tell those who look after the archive of something; at most 5 a minute */
  submitReport: { method: "POST", path: "/api/reports" },
  /** Reports, newest first */
  listReports: { method: "GET", path: "/api/admin/reports" },
  /** One report */
  getReport: { method: "GET", path: "/api/admin/reports/{id}" },
  /** What captures brought, newest first; without source, job or date: of the latest job of each source */
  listChanges: { method: "GET", path: "/api/changes" },
  /** What one capture brought, or what it has that any earlier one of its page had not, with the difference as HTML */
  compareSnapshots: { method: "GET", path: "/api/changes/compare" },
  /** The newest 50 changes as RSS 2.0 */
  getChangesFeed: { method: "GET", path: "/api/changes/rss" },
  /** A snapshot compared with its page as it is now; at most four at once */
  compareWithLivePage: { method: "GET", path: "/api/snapshots/{id}/compare-live" },
  /** Snapshots, or the latest of each page, that a query finds */
  searchArchive: { method: "GET", path: "/api/search" },
  /** The same as `GET /api/search`, with what each result's place comes from */
  debugArchiveSearch: { method: "GET", path: "/api/admin/search-debug" },
  /** Which lists of the archive can be exported, and how; with what each column holds */
  getExportManifest: { method: "GET", path: "/api/exports" },
  /** Snapshots by rising id */
  exportSnapshots: { method: "GET", path: "/api/exports/snapshots" },
  /** Changes by rising id */
  exportChanges: { method: "GET", path: "/api/exports/changes" },
  /** The captures of a URL, or of all that begin like it, as an index of WARC files has them */
  queryCdx: { method: "GET", path: "/api/cdx" },
  /** Leads to the capture of a URL that is nearest to `Accept-Datetime`; without that, to the newest */
  getTimeGate: { method: "GET", path: "/timegate/{url}" },
  /** All captures of a URL, oldest first */
  getTimeMapLinks: { method: "GET", path: "/timemap/link/{url}" },
  /** All captures of a URL, oldest first */
  getTimeMap: { method: "GET", path: "/timemap/json/{url}" },
  /** Exports, newest first */
  listPackages: { method: "GET", path: "/api/v1/exports" },
  /** Export as one WACZ file what a job has captured, or what the archive has of a URL, a host or a domain */
  createPackage: { method: "POST", path: "/api/v1/exports", idempotent: true },
  /** One export: how it goes, and where its file is to be had */
  getPackage: { method: "GET", path: "/api/v1/exports/{id}" },
  /** Delete an export that has ended, with its file; what it was made of stays */
  deletePackage: { method: "DELETE", path: "/api/v1/exports/{id}" },
  /** Whether the archive answers, with its jobs by state; 500 where the database does not */
  getArchiveHealth: { method: "GET", path: "/api/health" },
  /** Totals of the archive, a minute old at the most */
  getArchiveStats: { method: "GET", path: "/api/stats" },
  /** A snapshot: one capture of an HTML page */
  getSnapshot: { method: "GET", path: "/api/snapshot/{id}" },
  /** What the server sent for a snapshot, byte for byte, its content coding undone; takes byte ranges */
  getSnapshotContent: { method: "GET", path: "/api/snapshots/raw/{id}" },
  /** The newest 1000 snapshots of the same page, oldest first unless told otherwise */
  listSnapshotTimeline: { method: "GET", path: "/api/snapshots/{id}/timeline" },
  /** The newest good capture of the same page */
  getLatestSnapshot: { method: "GET", path: "/api/snapshots/{id}/latest" },
  /** The capture of a URL that is nearest to a time */
  resolveReplay: { method: "GET", path: "/api/replay/resolve" },
  /** Create an API key; the answer is the only place that ever shows it */
  createApiKey: { method: "POST", path: "/api/v1/api-keys" },
  /** The API keys, newest first, revoked ones included */
  listApiKeys: { method: "GET", path: "/api/v1/api-keys" },
  /** The API key that the request presents */
  getOwnApiKey: { method: "GET", path: "/api/v1/api-keys/self" },
  /** Limit an API key to collections, or to none, and set its quotas; its next request is held to it */
  limitApiKey: { method: "PUT", path: "/api/v1/api-keys/{key_id}" },
  /** Revoke an API key; it stops working at once */
  revokeApiKey: { method: "DELETE", path: "/api/v1/api-keys/{key_id}" },
  /** What an API key has used, day by day, and what its quotas leave of it */
  getUsage: { method: "GET", path: "/api/v1/usage" },
  /** Store crawl settings under a name */
  createConfig: { method: "POST", path: "/api/v1/configs" },
  /** The crawl configs, newest first */
  listConfigs: { method: "GET", path: "/api/v1/configs" },
  /** A crawl config, with the defaults of what it leaves open */
  getConfig: { method: "GET", path: "/api/v1/configs/{config_id}" },
  /** Replace a crawl config; what is left out goes back to its default, and jobs that run keep what they began with */
  replaceConfig: { method: "PUT", path: "/api/v1/configs/{config_id}" },
  /** Delete a crawl config; jobs that were started with it go on */
  deleteConfig: { method: "DELETE", path: "/api/v1/configs/{config_id}" },
  /** Monitor a page, a site, a feed or a sitemap: crawl it by a schedule, or when somebody asks */
  createSource: { method: "POST", path: "/api/v1/sources", idempotent: true },
  /** The monitored sources, newest first */
  listSources: { method: "GET", path: "/api/v1/sources" },
  /** A monitored source, with its latest jobs and when it is crawled next */
  getSource: { method: "GET", path: "/api/v1/sources/{source_id}" },
  /** Replace a monitored source; is_active pauses its schedule, and a job that runs goes on as it began */
  replaceSource: { method: "PUT", path: "/api/v1/sources/{source_id}" },
  /** Monitor a source no longer; its jobs and what they crawled stay */
  deleteSource: { method: "DELETE", path: "/api/v1/sources/{source_id}" },
  /** The jobs that crawled a monitored source, newest first */
  listSourceRuns: { method: "GET", path: "/api/v1/sources/{source_id}/runs" },
  /** Crawl a monitored source now, unless its latest job still runs */
  triggerSource: { method: "POST", path: "/api/v1/sources/{source_id}/trigger", idempotent: true },
  /** The domains that have settings, in order of name */
  listDomains: { method: "GET", path: "/api/v1/domains" },
  /** Settings, circuit and totals of a domain, whether it has settings of its own or not */
  getDomain: { method: "GET", path: "/api/v1/domains/{domain}" },
  /** Change settings of a domain; what is left out stays, null is the deployment's value */
  saveDomain: { method: "PUT", path: "/api/v1/domains/{domain}" },
  /** Block a domain: within two seconds no request leaves any more, and its URLs end as DOMAIN_BLOCKED */
  blockDomain: { method: "POST", path: "/api/v1/domains/{domain}/block" },
  /** Unblock a domain; URLs that ended as DOMAIN_BLOCKED stay so */
  unblockDomain: { method: "POST", path: "/api/v1/domains/{domain}/unblock" },
  /** Close the circuit of a domain, and forget its failures */
  resetDomain: { method: "POST", path: "/api/v1/domains/{domain}/reset" },
  /** No capture of before is used again instead of a request; all of them stay in the archive */
  clearCrawlCache: { method: "DELETE", path: "/api/v1/cache/crawl" },
  /** Every search is answered anew */
  clearQueryCache: { method: "DELETE", path: "/api/v1/cache/query" },
  /** Empty the embedding cache; vectors that are stored stay */
  clearEmbeddingCache: { method: "DELETE", path: "/api/v1/cache/embeddings" },
  /** Clear what is cached of a domain: its captures are not used again, its robots.txt is fetched anew */
  clearDomainCache: { method: "DELETE", path: "/api/v1/cache/domain/{domain}" },
  /** How often each cache had what was asked for, and how large it is */
  getCacheStats: { method: "GET", path: "/api/v1/cache/stats" },
  /** How much there is, and how much is under way */
  getStats: { method: "GET", path: "/api/v1/stats" },
  /** What became of the URLs of each domain, over all jobs, in order of name */
  listDomainStats: { method: "GET", path: "/api/v1/stats/domains" },
  /** Proxy configs, newest first */
  listProxies: { method: "GET", path: "/api/v1/proxies" },
  /** Create a proxy config; its passwords are never shown again */
  createProxy: { method: "POST", path: "/api/v1/proxies" },
  /** One proxy config, without its passwords */
  getProxy: { method: "GET", path: "/api/v1/proxies/{id}" },
  /** Replace a proxy config; a server whose password is left out keeps it */
  replaceProxy: { method: "PUT", path: "/api/v1/proxies/{id}" },
  /** Remove a proxy config; jobs that use it can make no further request */
  deleteProxy: { method: "DELETE", path: "/api/v1/proxies/{id}" },
  /** Try the servers of a proxy config, or one server, with a request through each */
  testProxies: { method: "POST", path: "/api/v1/proxies/test" },
  /** Alive */
  getHealth: { method: "GET", path: "/api/v1/health" },
  /** Whether every dependency answers; 503 and what failed where one does not */
  getReadiness: { method: "GET", path: "/api/v1/health/ready" },
  /** What this is, and where to go: HTML for browsers, JSON for others */
  getEntrance: { method: "GET", path: "/" },
  /** This document, with the address under which it was asked for as its server */
  getOpenApiDocument: { method: "GET", path: "/openapi.json" },
  /** The reference of the API, for people: every operation */
  getReference: { method: "GET", path: "/docs" },
  /** The reference of one operation, by its `operationId`; and what the pages load */
  getReferencePage: { method: "GET", path: "/docs/{page}" },
};
