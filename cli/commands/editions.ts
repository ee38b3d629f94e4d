/** `seed-sources`, `create-job` and the other commands that see to sources and archive jobs. */
import type { ApiClient } from "../api-client.ts";
import { readFields } from "../crawl-request.ts";
import { CliError, EXIT } from "../exit.ts";
import { harmless, type Terminal } from "../terminal.ts";

interface Job {
  id: number;
  sourceCode: string;
  name: string;
  engine: string;
  status: string;
  error: string | null;
  retryCount: number;
  createdAt: string;
  warcFileCount: number;
  warcBytesTotal: number;
  indexedPageCount: number;
}

interface JobDetail extends Job {
  outputDir: string;
  pagesCrawled: number;
  pagesFailed: number;
  crawlerStatus: string | null;
  cleanupStatus: string;
  config: unknown;
}

interface Json {
  json?: true;
}

const raw = (terminal: Terminal, answer: unknown): number => {
  terminal.line(JSON.stringify(answer, null, 2));
  return EXIT.done;
};

export async function seedSources(
  api: ApiClient,
  terminal: Terminal,
  { file, json }: Json & { file?: string },
): Promise<number> {
  const body = file === undefined ? {} : readFields(file);
  const seeded = await api<Record<"created" | "updated" | "unchanged", string[]>>("POST", "/api/admin/sources", body);
  if (json) return raw(terminal, seeded);
  for (const [what, codes] of Object.entries(seeded)) {
    if (codes.length > 0) terminal.line(`${what}: ${codes.join(", ")}`);
  }
  return EXIT.done;
}

export interface NewJobOptions extends Json {
  source: string;
  name?: string;
  seed?: string[];
  option?: string[];
  arg?: string[];
}

export async function createJob(api: ApiClient, terminal: Terminal, options: NewJobOptions): Promise<number> {
  const job = await api<JobDetail>("POST", "/api/admin/jobs", requestOf(options));
  if (options.json) return raw(terminal, job);
  terminal.line(`Job ${job.id} ${harmless(job.name)} is ${job.status}: it begins within a minute`);
  return EXIT.done;
}

export async function validateConfig(api: ApiClient, terminal: Terminal, options: NewJobOptions): Promise<number> {
  return raw(terminal, await api("POST", "/api/admin/jobs/validate-config", requestOf(options)));
}

function requestOf({ source, name, seed, option, arg }: NewJobOptions): Record<string, unknown> {
  return {
    source,
    ...(name !== undefined && { name }),
    ...(seed !== undefined && { extraSeeds: seed }),
    ...(option !== undefined && { toolOptions: Object.fromEntries(option.map(toolOption)) }),
    ...(arg !== undefined && { passthroughArgs: arg }),
  };
}

/** `true`, `false` and whole numbers are what they look like. */
function toolOption(text: string): [string, unknown] {
  const [name = "", ...rest] = text.split("=");
  const value = rest.join("=");
  if (name === "" || rest.length === 0) {
    throw new CliError(`--option ${text} has no value`, EXIT.usage, "As in --option initial_workers=2");
  }
  if (value === "true" || value === "false") return [name, value === "true"];
  return [name, /^\d{1,15}$/.test(value) ? Number(value) : value];
}

export async function listArchiveJobs(
  api: ApiClient,
  terminal: Terminal,
  { source, status, limit, json }: Json & { source?: string; status?: string; limit: number },
): Promise<number> {
  const query = new URLSearchParams({ limit: String(limit), ...(source && { source }), ...(status && { status }) });
  const answer = await api<{ items: Job[]; total: number }>("GET", `/api/admin/jobs?${query}`);
  if (source !== undefined && answer.total === 0) await requireSource(api, source);
  if (json) return raw(terminal, answer);
  if (answer.items.length === 0) {
    const none = "No archive jobs yet: strandline create-job --source CODE makes one";
    terminal.line(source || status ? "No archive job is such a one" : none);
  }
  for (const { id, status: state, name, indexedPageCount, createdAt } of answer.items) {
    terminal.line(
      `${id}  ${state.padEnd(12)}  ${createdAt.slice(0, 16)}  ${harmless(name)}, ${indexedPageCount} pages`,
    );
  }
  return EXIT.done;
}

/** @throws CliError that names those that there are */
async function requireSource(api: ApiClient, source: string): Promise<void> {
  const { items } = await api<{ items: { code: string }[] }>("GET", "/api/admin/sources");
  const codes = items.map(({ code }) => code);
  if (codes.includes(source.toLowerCase())) return;
  const hint = codes.length === 0 ? "strandline seed-sources makes some" : `There are: ${codes.join(", ")}`;
  throw new CliError(`There is no source ${source}`, EXIT.failed, hint);
}

const showing = (terminal: Terminal, job: JobDetail, json: true | undefined): number => {
  if (json) return raw(terminal, job);
  const { id, name, sourceCode, engine, status, error, retryCount, outputDir, pagesCrawled, pagesFailed } = job;
  terminal.line(
    `Job ${id} ${harmless(name)} of ${sourceCode} (${engine}): ${status}${retryCount ? `, try ${retryCount + 1}` : ""}`,
  );
  if (error !== null) terminal.line(harmless(error));
  terminal.line(`${pagesCrawled} pages crawled, ${pagesFailed} failed, ${job.indexedPageCount} indexed`);
  const cleaned = job.cleanupStatus === "none" ? "" : "; temporary files were deleted";
  terminal.line(`${job.warcFileCount} WARC files, ${job.warcBytesTotal} bytes${cleaned}`);
  terminal.line(outputDir);
  terminal.line(harmless(JSON.stringify(job.config)));
  return EXIT.done;
};

export async function showArchiveJob(
  api: ApiClient,
  terminal: Terminal,
  { id, json }: Json & { id: number },
): Promise<number> {
  return showing(terminal, await api<JobDetail>("GET", `/api/admin/jobs/${id}`), json);
}

export async function retryArchiveJob(
  api: ApiClient,
  terminal: Terminal,
  { id, json }: Json & { id: number },
): Promise<number> {
  return showing(terminal, await api<JobDetail>("POST", `/api/admin/jobs/${id}/retry`, {}), json);
}

export async function indexJob(
  api: ApiClient,
  terminal: Terminal,
  { id, json }: Json & { id: number },
): Promise<number> {
  return showing(terminal, await api<JobDetail>("POST", `/api/admin/jobs/${id}/index`, {}), json);
}

export async function cleanUpJob(
  api: ApiClient,
  terminal: Terminal,
  { id, mode, dryRun = false, json }: Json & { id: number; mode: string; dryRun?: boolean },
): Promise<number> {
  const answer = await api<{ files: number; bytes: number }>("POST", `/api/admin/jobs/${id}/cleanup`, { mode, dryRun });
  if (json) return raw(terminal, answer);
  const { files, bytes } = answer;
  if (files === 0) terminal.line("There is nothing to clean up");
  else terminal.line(`${files} files, ${bytes} bytes ${dryRun ? "would be" : "were"} deleted`);
  return EXIT.done;
}

export async function registerFiles(
  api: ApiClient,
  terminal: Terminal,
  { source, name, key, json }: Json & { source: string; name?: string; key: string[] },
): Promise<number> {
  const body = { source, keys: key, ...(name !== undefined && { name }) };
  return showing(terminal, await api<JobDetail>("POST", "/api/admin/jobs/register", body), json);
}

export async function reportStorage(api: ApiClient, terminal: Terminal, { json }: Json): Promise<number> {
  const answer = await api<{
    items: {
      sourceCode: string;
      jobs: number;
      warcFileCount: number;
      warcBytesTotal: number;
      temporaryBytes: number;
    }[];
    warcFileCount: number;
    warcBytesTotal: number;
  }>("GET", "/api/admin/storage");
  if (json) return raw(terminal, answer);
  for (const { sourceCode, jobs, warcFileCount, warcBytesTotal, temporaryBytes } of answer.items) {
    const temporary = temporaryBytes === 0 ? "" : `, ${temporaryBytes} bytes beside them`;
    terminal.line(`${sourceCode}: ${jobs} jobs, ${warcFileCount} WARC files, ${warcBytesTotal} bytes${temporary}`);
  }
  terminal.line(`${answer.warcFileCount} WARC files, ${answer.warcBytesTotal} bytes in all`);
  return EXIT.done;
}

export async function computeChanges(
  api: ApiClient,
  terminal: Terminal,
  { source, json }: Json & { source?: string },
): Promise<number> {
  const body = source === undefined ? {} : { source };
  const answer = await api<{ pages: number | null }>("POST", "/api/admin/changes/compute", body);
  if (json) return raw(terminal, answer);
  terminal.line(`${answer.pages === null ? "All" : answer.pages} pages are compared again`);
  return EXIT.done;
}
