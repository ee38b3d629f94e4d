/**
 * Every setting in one table: field, environment name, type and default. Anything unknown or malformed stops the start,
 * with all problems listed at once.
 */
import { z } from "zod";
import { parseAllowedHost } from "./allowed-host.ts";

interface Field<T> {
  env: string;
  schema: z.ZodType<T>;
  about: string;
}

function field<T>(env: string, schema: z.ZodType<T>, about: string): Field<T> {
  return { env, schema, about };
}

const integer = (fallback: number, min = 0, max = Number.MAX_SAFE_INTEGER) =>
  z.coerce.number().int().min(min).max(max).default(fallback);
const list = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  );

/** Of the archive, each by itself. */
export const ARCHIVE_FEATURES = ["search", "changes", "compare-live", "exports", "reports"] as const;
export type ArchiveFeature = (typeof ARCHIVE_FEATURES)[number];

/** The settings, by the name the code uses. Order is the order of the guide's table. */
export const CONFIG_FIELDS = {
  logLevel: field(
    "LOG_LEVEL",
    z.enum(["debug", "info", "warn", "error"]).default("info"),
    "Least severe level that is logged; lines that hold metrics always are",
  ),
  metricsNamespace: field(
    "METRICS__NAMESPACE",
    z.string().min(1).default("Strandline"),
    "Namespace of the metrics in CloudWatch; set by the deployment",
  ),
  metricsAlsoAs: field(
    "METRICS__ALSO_AS",
    z
      .string()
      .regex(/^([a-z][a-z0-9_]*)?$/, "must be small letters, digits and underscores")
      .default(""),
    "Prefix by which `/metrics` names everything a second time, e.g. `healtharchive`; empty: by ours alone",
  ),
  postgresUrl: field(
    "DATABASE__POSTGRES_URL",
    z.string().default(""),
    "PostgreSQL 16 to 18; empty: the embedded server",
  ),
  postgresAuth: field(
    "DATABASE__AUTH",
    z.enum(["password", "iam"]).default("password"),
    "`iam`: RDS takes a token of the function's role in place of the URL's password; set by the deployment",
  ),
  postgresPoolSize: field("DATABASE__POOL_SIZE", integer(1, 1, 50), "Connections per container"),
  postgresConnectTimeoutS: field(
    "DATABASE__CONNECT_TIMEOUT_S",
    integer(30, 1, 300),
    "Longest wait for a connection; a paused database takes some 15 s to resume, and sometimes more than 30",
  ),
  bucket: field(
    "STORAGE__BUCKET",
    z.string().default("strandline"),
    "S3 bucket for WARCs, capture batches and uploads",
  ),
  stateTable: field(
    "STATE__TABLE",
    z.string().default("strandline-state"),
    "DynamoDB table for hosts, tasks and markers",
  ),
  queueUrlPrefix: field(
    "QUEUES__URL_PREFIX",
    z.string().default(""),
    "Queue URL without the queue's name; set by the deployment",
  ),
  userAgent: field(
    "FETCH__USER_AGENT",
    z.string().min(1).default("strandline/0.1 (+https://github.com/strandline/strandline)"),
    "User-Agent of the crawler; should hold a contact URL",
  ),
  fetchConcurrencyPerTask: field(
    "FETCH__CONCURRENCY_PER_TASK",
    integer(8, 1, 64),
    "Requests of one task that may be under way at once, within the host's rate, where its job says nothing",
  ),
  connectTimeoutMs: field("FETCH__CONNECT_TIMEOUT_MS", integer(10_000, 1), "Longest wait for a TCP and TLS connection"),
  headersTimeoutMs: field(
    "FETCH__HEADERS_TIMEOUT_MS",
    integer(15_000, 1),
    "Longest wait for response headers, where a job names no page_timeout_ms",
  ),
  bodyIdleTimeoutMs: field(
    "FETCH__BODY_IDLE_TIMEOUT_MS",
    integer(10_000, 1),
    "Longest pause between two pieces of a body, where a job names no page_timeout_ms",
  ),
  robotsUnreachable: field(
    "ROBOTS__UNREACHABLE",
    z.enum(["disallow", "allow"]).default("disallow"),
    "What an unreachable robots.txt (5xx, timeout) means; RFC 9309 says disallow",
  ),
  commonCrawlUrl: field(
    "COMMON_CRAWL__URL",
    z.url({ protocol: /^https?$/ }).default("https://index.commoncrawl.org"),
    "Common Crawl's index server, or a copy of it, that URL discovery asks",
  ),
  allowHosts: field(
    "ACCESS__ALLOW_HOSTS",
    list.pipe(
      z.array(
        z.string().refine((entry) => parseAllowedHost(entry) !== undefined, {
          error: ({ input }) => `"${input}" is neither host nor *.suffix, with an optional :port`,
        }),
      ),
    ),
    "Private hosts that may be fetched all the same: host or *.suffix, each with an optional :port, separated by " +
      "commas",
  ),
  defaultRps: field(
    "RATE_LIMIT__DEFAULT_RPS",
    z.coerce.number().min(0.01).max(10_000).default(1),
    "Requests a second per host where a job names no rate",
  ),
  spiderMaxStoredJobs: field(
    "SPIDER__MAX_STORED_JOBS",
    integer(100, 1, 100_000),
    "Stored spider jobs of one API key that may be unfinished at once",
  ),
  circuitThreshold: field(
    "CIRCUIT_BREAKER__THRESHOLD",
    integer(5, 1, 1_000),
    "Failures in a row after which a host is left alone, where its domain settings name no number",
  ),
  circuitTimeoutS: field(
    "CIRCUIT_BREAKER__TIMEOUT_S",
    integer(300, 1, 3_600),
    "Seconds until one request may try such a host again, where its domain settings name no time",
  ),
  crawlCacheTtlS: field(
    "CACHE__CRAWL_TTL_S",
    integer(86_400, 0, 14 * 86_400),
    "Seconds for which a capture may be used again instead of a request; 0: never",
  ),
  answerCacheTtlS: field(
    "CACHE__QUERY_TTL_S",
    integer(3_600, 0, 86_400),
    "Seconds for which an answer of a search may be given again while nothing has changed; 0: never",
  ),
  answersShared: field(
    "CACHE__QUERY_SHARED",
    z
      .enum(["true", "false"])
      .default("false")
      .transform((text) => text === "true"),
    "Whether such answers are kept where all containers find them, and not in each alone",
  ),
  queryVectorTtlS: field(
    "CACHE__QUERY_EMBED_TTL_S",
    integer(86_400, 0, 30 * 86_400),
    "Seconds for which all containers find the vector of a query that a server made; 0: each keeps its own",
  ),
  embeddingCacheTtlS: field(
    "CACHE__EMBED_TTL_S",
    integer(604_800, 3_600, 365 * 86_400),
    "Seconds for which the vector of a passage that a server made is used for equal passages",
  ),
  archivePublic: field(
    "ARCHIVE__PUBLIC",
    z
      .enum(["true", "false"])
      .default("true")
      .transform((text) => text === "true"),
    "Whether anybody may read snapshots and replay them without a key: of what all keys have crawled",
  ),
  archiveCorsOrigins: field(
    "ARCHIVE__CORS_ORIGINS",
    z
      .string()
      .default("http://localhost:3000,http://localhost:5173")
      .transform((text) =>
        text
          .split(",")
          .map((item) => item.trim())
          .filter((item) => item !== ""),
      ),
    "Origins whose pages may read snapshots in a browser, separated by commas; `*`: those of all",
  ),
  archiveRequestsPerMinute: field(
    "ARCHIVE__REQUESTS_PER_MINUTE",
    integer(1_200, 0, 1_000_000),
    "Requests a minute that one address may send without a key; 0: any number",
  ),
  archiveOff: field(
    "ARCHIVE__OFF",
    list.pipe(z.array(z.enum(ARCHIVE_FEATURES))),
    "What readers shall not have, separated by commas: `search`, `changes`, `compare-live`, `exports`, `reports`",
  ),
  archiveUsage: field(
    "ARCHIVE__USAGE",
    z
      .enum(["true", "false"])
      .default("true")
      .transform((text) => text === "true"),
    "Whether it is counted how often readers ask for what, by day, without anything of who asks",
  ),
  archiveReplayUrl: field(
    "ARCHIVE__REPLAY_URL",
    z.string().default(""),
    "Where captures are replayed, an origin of its own; set by the deployment and by `npm start`",
  ),
  apiUrl: field(
    "API__URL",
    z.string().default(""),
    "Where the API answers, for what asks it with a caller's own key; set by the deployment and by `npm start`",
  ),
  consolePath: field(
    "CONSOLE__PATH",
    z.string().default(""),
    "Where the console is served, from the root of the API; set by `npm start`",
  ),
  mergedWarcMb: field(
    "ARCHIVE__MERGED_WARC_MB",
    integer(1_000, 1, 4_000),
    "Megabytes of a file that small WARC files are copied into; those of less than half as much are small",
  ),
  mergedWarcHours: field(
    "ARCHIVE__MERGED_WARC_HOURS",
    integer(24, 1, 8_760),
    "Hours for which a WARC file stays after its captures were pointed at its copy in another one",
  ),
  unusedWarcDays: field(
    "ARCHIVE__UNUSED_WARC_DAYS",
    integer(45, 45, 36_500),
    "Days for which a WARC file stays at which no capture points; queues and batches may still hold one for 44",
  ),
  warcUpkeepHours: field(
    "ARCHIVE__UPKEEP_HOURS",
    integer(24, 0, 8_760),
    "Hours between two runs that copy small WARC files into large ones and delete unneeded ones; 0: when asked only",
  ),
  apiRpm: field("RATE_LIMIT__API_RPM", integer(600, 1), "Requests a minute of a new API key"),
  chromiumPath: field(
    "RENDER__CHROMIUM_PATH",
    z.string().default(""),
    "Chromium or Chrome that renders pages; empty: the packaged one, for Linux on x64",
  ),
  crawl4aiUrl: field(
    "CRAWL4AI__URL",
    z.string().default(""),
    "Crawl4AI server that renders the pages of crawls instead; empty: Chromium does",
  ),
  crawl4aiToken: field(
    "CRAWL4AI__TOKEN",
    z.string().default(""),
    "The `CRAWL4AI_API_TOKEN` of that server, which answers nobody without it",
  ),
  crawl4aiTimeoutS: field("CRAWL4AI__TIMEOUT_S", integer(60, 1, 600), "Longest wait for a page of that server"),
  crawl4aiConcurrency: field(
    "CRAWL4AI__CONCURRENCY",
    integer(6, 2, 1000),
    "Pages that server is given at once; on AWS the deployment's `crawl4aiConcurrency` says so",
  ),
  embedder: field(
    "EMBEDDER__PROVIDER",
    z.enum(["static", "tei", "openai", "none"]).optional(),
    "Where embeddings come from; unset: tei when TEI__URL is set, openai when OPENAI__URL is, else static",
  ),
  embedderModelPath: field(
    "EMBEDDER__MODEL_PATH",
    z.string().default(""),
    "Folder with the files of the static model; empty: those of the repository",
  ),
  teiUrl: field("TEI__URL", z.string().default(""), "Text Embeddings Inference server"),
  teiApiKey: field("TEI__API_KEY", z.string().default(""), "The `--api-key` of that server"),
  teiModel: field(
    "TEI__EMBEDDING_MODEL",
    z.string().default("Qwen/Qwen3-Embedding-0.6B"),
    "Model that the server runs; names the vector collection",
  ),
  teiDimension: field("TEI__EMBEDDING_DIMENSION", integer(1024, 1, 65_536), "Length of that model's vectors"),
  teiTimeoutS: field("TEI__TIMEOUT_S", integer(60, 1), "Longest wait for an answer of the server"),
  embedBatchSize: field("TEI__BATCH_SIZE", integer(32, 1, 256), "Chunks per embedding call"),
  rerankUrl: field(
    "TEI__RERANK_URL",
    z.string().default(""),
    "Text Embeddings Inference server with a reranker, for `use_reranker`; empty: none",
  ),
  rerankApiKey: field("TEI__RERANK_API_KEY", z.string().default(""), "The `--api-key` of that server"),
  rerankTimeoutS: field(
    "TEI__RERANK_TIMEOUT_S",
    integer(3, 1, 20),
    "Longest wait of a search for that server; then it is answered in the order without it",
  ),
  rerankBatchSize: field("TEI__RERANK_BATCH_SIZE", integer(32, 1, 256), "Passages per call of that server"),
  openAiUrl: field(
    "OPENAI__URL",
    z.string().default(""),
    "Server with OpenAI's API for embeddings, up to and with its version, as in `https://api.openai.com/v1`",
  ),
  openAiApiKey: field("OPENAI__API_KEY", z.string().default(""), "API key of that server"),
  openAiModel: field(
    "OPENAI__EMBEDDING_MODEL",
    z.string().min(1).default("text-embedding-3-small"),
    "Model that is asked for; names the vector collection",
  ),
  openAiDimension: field("OPENAI__EMBEDDING_DIMENSION", integer(1536, 1, 65_536), "Length of that model's vectors"),
  openAiTimeoutS: field("OPENAI__TIMEOUT_S", integer(60, 1), "Longest wait for an answer of the server"),
  openAiBatchSize: field("OPENAI__BATCH_SIZE", integer(64, 1, 2_048), "Chunks per embedding call"),
  vectorStore: field(
    "VECTOR_STORE",
    z.enum(["sqlite", "qdrant", "pgvector"]).optional(),
    "Where vectors are kept; unset: qdrant when QDRANT__URL is set, else sqlite. pgvector: the database itself",
  ),
  qdrantUrl: field("QDRANT__URL", z.string().default(""), "Qdrant server; empty: sqlite-vec"),
  qdrantApiKey: field("QDRANT__API_KEY", z.string().default(""), "Qdrant API key"),
  qdrantCollection: field("QDRANT__COLLECTION", z.string().default("strandline"), "Prefix of the collection names"),
  sqliteVectorsPath: field("VECTORS__SQLITE_PATH", z.string().default(""), "File of the embedded vector store"),
  spiderMaxContentBytes: field(
    "SPIDER__MAX_CONTENT_BYTES",
    integer(1_000_000, 1_000, 16_000_000),
    "Longest `content` and `markdown` of a result, in bytes of UTF-8; longer ones are cut at a character",
  ),
  keptGenerations: field(
    "GENERATIONS__KEPT",
    integer(1, 0, 100),
    "Replaced generations of a site that stay, with vectors, to go back to; each takes as much as what is visible",
  ),
  jobRetentionDays: field(
    "SPIDER__JOB_RETENTION_DAYS",
    integer(30, 1, 36_500),
    "Days for which the results of a job that has ended can be read",
  ),
  proxyTestUrl: field(
    "PROXY__TEST_URL",
    z.url({ protocol: /^https?$/ }).default("https://example.com/"),
    "What a proxy is tried with where the request names no URL",
  ),
  mostRedrives: field(
    "DEAD_LETTER__MOST_REDRIVES",
    integer(3, 0, 10),
    "Times that a message is sent again after all its deliveries failed",
  ),
  firstRedriveS: field(
    "DEAD_LETTER__FIRST_REDRIVE_S",
    integer(60, 1, 86_400),
    "Wait before the first of these times, in seconds; four times as long before each next one",
  ),
  harvestConfigFile: field(
    "HARVEST__CONFIG_FILE",
    z.string().default(""),
    "YAML of the source harvester: providers, model, prompt file; empty: the one that comes along",
  ),
  harvestSecretArn: field(
    "HARVEST__SECRET_ARN",
    z.string().default(""),
    "Secrets Manager secret with the keys of search and model providers, as one JSON object; set by the deployment",
  ),
  zimitCommand: field(
    "ZIMIT__COMMAND",
    z.string().default(""),
    "On one machine: the zimit program, which archive jobs of the engine zimit run; empty: there is none",
  ),
  zimitTask: field(
    "ZIMIT__TASK_DEFINITION",
    z.string().default(""),
    "Task definition of ECS for the engine zimit; empty: there is none; set by the deployment",
  ),
  zimitCluster: field("ZIMIT__CLUSTER", z.string().default(""), "Its cluster; set by the deployment"),
  zimitSubnets: field("ZIMIT__SUBNETS", list, "Its subnets, separated by commas; set by the deployment"),
  zimitSecurityGroup: field(
    "ZIMIT__SECURITY_GROUP",
    z.string().default(""),
    "Its security group; set by the deployment",
  ),
  schedulerGroup: field(
    "SCHEDULER__GROUP",
    z.string().default("strandline"),
    "Group of EventBridge Scheduler that holds the schedules of monitored sources; set by the deployment",
  ),
  schedulerTarget: field(
    "SCHEDULER__TARGET_ARN",
    z.string().default("arn:aws:sqs:us-east-1:000000000000:source-runs"),
    "The queue that they fire into; set by the deployment",
  ),
  schedulerRole: field(
    "SCHEDULER__ROLE_ARN",
    z.string().default("arn:aws:iam::000000000000:role/scheduler"),
    "The role that they fire with; set by the deployment",
  ),
} as const;

type Fields = typeof CONFIG_FIELDS;
export type Config = { readonly [K in keyof Fields]: Fields[K] extends Field<infer T> ? T : never };

/** Groups of the reference that have no setting here, and where what they say is said instead. */
const ABSENT_GROUPS: Readonly<Record<string, string>> = {
  JOB:
    "the time of a job is timeout_seconds of its request, results are kept for SPIDER__JOB_RETENTION_DAYS, and the " +
    "number of tries is not a setting",
  FEATURES: "nothing is switched on or off, and the limits of a deep crawl are max_pages and max_depth of its request",
  REDIS: "there is no Redis to set up",
};

/**
 * Reads the settings from the environment.
 * @throws Error that lists every unknown or malformed setting
 * @example
 * loadConfig({ RATE_LIMIT__DEFAULT_RPS: "2" }).defaultRps // => 2
 * loadConfig({ RATE_LIMIT__DEFAULT_RPS: "fast", FETCH__NO_SUCH: "1" }) // => throws Error
 */
export function loadConfig(env: Record<string, string | undefined> = process.env): Config {
  const problems: string[] = [];
  const known = new Set(Object.values(CONFIG_FIELDS).map((each) => each.env));
  const groups = new Set([...known].filter((name) => name.includes("__")).map((name) => name.split("__")[0]));
  for (const name of Object.keys(env)) {
    const group = name.split("__")[0];
    if (!name.includes("__") || known.has(name)) continue;
    const instead = Object.hasOwn(ABSENT_GROUPS, group as string) ? ABSENT_GROUPS[group as string] : undefined;
    if (instead !== undefined) problems.push(`${name}: no such setting; ${instead}`);
    else if (groups.has(group)) problems.push(`${name}: no such setting`);
  }
  const values: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(CONFIG_FIELDS)) {
    const raw = env[each.env];
    const result = each.schema.safeParse(raw === "" ? undefined : raw);
    if (result.success) values[key] = result.data;
    else problems.push(`${each.env}: ${result.error.issues.map((issue) => issue.message).join("; ")}`);
  }
  if (problems.length > 0)
    throw new Error(`Configuration has ${problems.length} problem(s):\n  ${problems.join("\n  ")}`);
  return values as Config;
}
