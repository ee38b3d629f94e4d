/** `sources …`: pages, sites, feeds and sitemaps that are crawled again and again. */
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import type { Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";

interface Revisit {
  shortest_hours: number;
  longest_hours: number;
}

/** What a request for a source takes, as far as its answer shows it. */
interface SourceFields {
  name: string;
  type: string;
  url: string;
  schedule_cron: string | null;
  time_zone: string;
  is_active: boolean;
  revisit: Revisit | null;
  site: Record<string, unknown> | null;
  list: Record<string, unknown> | null;
  config_id: string | null;
  config: Record<string, unknown>;
  collection_id: string | null;
  tags: string[];
  priority: string;
}

interface Source extends SourceFields {
  id: string;
  last_crawled_at: string | null;
  last_error: string | null;
  next_run_at: string | null;
}

interface Run {
  job_id: string;
  status: string;
  stop_reason: string | null;
  error: string | null;
  counts: { crawled: number; failed: number; skipped: number };
  list: { taken: number; left: number; notes: { source: string; code: string; message: string }[] } | null;
  created_at: string;
  completed_at: string | null;
}

export interface SourceOptions {
  name?: string;
  type?: string;
  address?: string;
  cron?: string;
  timeZone?: string;
  shortestHours?: number;
  longestHours?: number;
  scope?: string;
  include?: string[];
  exclude?: string[];
  depth?: number;
  maxPages?: number;
  maxEntries?: number;
  configId?: string;
  collection?: string;
  tag?: string[];
  priority?: string;
  json?: true;
}

interface Shown {
  json?: true;
}

const at = (id: string, below = "") => `/api/v1/sources/${encodeURIComponent(id)}${below}`;

export async function listSources(
  api: ApiClient,
  terminal: Terminal,
  { limit, json }: Shown & { limit: number },
): Promise<number> {
  const page = await api<Page<Source>>("GET", `/api/v1/sources?limit=${limit}`);
  if (json) terminal.line(JSON.stringify(page, null, 2));
  else if (page.items.length === 0) terminal.line("No source is monitored: strandline sources add URL does so");
  else for (const each of page.items) terminal.row(lineOf(each));
  return EXIT.done;
}

export async function showSource(api: ApiClient, terminal: Terminal, id: string, { json }: Shown): Promise<number> {
  const source = await api<Source & { next_runs: string[]; runs: Run[] }>("GET", at(id));
  if (json) {
    terminal.line(JSON.stringify(source, null, 2));
    return EXIT.done;
  }
  terminal.line(lineOf(source));
  if (source.last_error !== null) terminal.line(`Its latest firing began no job: ${harmless(source.last_error)}`);
  if (source.next_runs.length > 0) terminal.line(`Next: ${source.next_runs.join(", ")}`);
  for (const run of source.runs) terminal.line(runLine(run));
  for (const { source: place, code, message } of source.runs[0]?.list?.notes ?? []) {
    terminal.line(`${code}  ${harmless(place)}: ${harmless(message)}`);
  }
  return EXIT.done;
}

export async function addSource(
  api: ApiClient,
  terminal: Terminal,
  url: string,
  { json, ...options }: SourceOptions,
): Promise<number> {
  const fields = fieldsOf(options);
  const made = await api<Source>("POST", "/api/v1/sources", { name: url.slice(0, 200), ...fields, url });
  terminal.line(json ? JSON.stringify(made, null, 2) : lineOf(made));
  return EXIT.done;
}

/** What is not named stays as it is. */
export async function changeSource(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { json, ...options }: SourceOptions & { active?: boolean },
): Promise<number> {
  const before = await api<Source>("GET", at(id));
  const type = options.type ?? before.type;
  const { site, list, revisit, ...fields } = fieldsOf({ ...options, type });
  const after = {
    ...requestOf(before),
    ...fields,
    revisit: revisitAfter(before.revisit, revisit, fields.schedule_cron),
    ...(options.active === undefined ? {} : { is_active: options.active }),
    site: partAfter(type === "site", before.site, site),
    list: partAfter(isList(type), before.list, list),
  };
  const changed = await api<Source>("PUT", at(id), after);
  terminal.line(json ? JSON.stringify(changed, null, 2) : lineOf(changed));
  return EXIT.done;
}

export async function triggerSource(api: ApiClient, terminal: Terminal, id: string, { json }: Shown): Promise<number> {
  const begun = await api<{ job_id: string }>("POST", at(id, "/trigger"));
  terminal.line(
    json
      ? JSON.stringify(begun, null, 2)
      : `Job ${begun.job_id} started. Follow it with: strandline jobs show ${begun.job_id}`,
  );
  return EXIT.done;
}

export async function sourceHistory(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { limit, json }: Shown & { limit: number },
): Promise<number> {
  const page = await api<Page<Run>>("GET", at(id, `/runs?limit=${limit}`));
  if (json) terminal.line(JSON.stringify(page, null, 2));
  else if (page.items.length === 0) terminal.line("It has not been crawled yet");
  else for (const run of page.items) terminal.line(runLine(run));
  return EXIT.done;
}

export async function deleteSource(api: ApiClient, terminal: Terminal, id: string, { json }: Shown): Promise<number> {
  const answer = await api<null>("DELETE", at(id));
  terminal.line(json ? JSON.stringify(answer) : `The source ${id} is deleted; its jobs and what they crawled stay.`);
  return EXIT.done;
}

const isList = (type: string | undefined): boolean => type === "feed" || type === "sitemap";

/** What is not for the source's type is left for the API to refuse. */
function partAfter(
  applies: boolean,
  before: Record<string, unknown> | null,
  named: Record<string, unknown> | null | undefined,
): Record<string, unknown> | null {
  const merged = { ...before, ...named };
  return applies && Object.keys(merged).length > 0 ? merged : (named ?? null);
}

/** In the API's words, of what was named. */
function fieldsOf(
  options: Omit<SourceOptions, "json">,
): Partial<Omit<SourceFields, "revisit">> & { revisit?: Partial<Revisit> | null } {
  const patterns = { include: options.include, exclude: options.exclude };
  const forList = isList(options.type);
  const list = withoutMissing({ ...(forList && patterns), max_entries: options.maxEntries });
  const site = withoutMissing({
    scope: options.scope,
    ...(!forList && patterns),
    max_depth: options.depth,
    max_pages: options.maxPages,
  });
  return {
    ...withoutMissing({
      name: options.name,
      type: options.type,
      url: options.address,
      // none: it is crawled only when somebody asks
      schedule_cron: options.cron === "none" ? null : options.cron,
      time_zone: options.timeZone,
      revisit: revisitOf(options),
      config_id: options.configId,
      collection_id: options.collection,
      tags: options.tag,
      priority: options.priority,
    }),
    ...(Object.keys(site).length > 0 && { site }),
    ...(Object.keys(list).length > 0 && { list }),
  };
}

/** 0 is none. */
function revisitOf({ shortestHours, longestHours }: SourceOptions): Partial<Revisit> | null | undefined {
  if (longestHours === 0) return null;
  const revisit = withoutMissing({ shortest_hours: shortestHours, longest_hours: longestHours });
  return Object.keys(revisit).length === 0 ? undefined : revisit;
}

/** Without a schedule there are no times to choose from. */
function revisitAfter(
  before: Revisit | null,
  named: Partial<Revisit> | null | undefined,
  cron: string | null | undefined,
): Partial<Revisit> | null {
  if (named === undefined) return cron === null ? null : before;
  return named && { ...before, ...named };
}

function requestOf(source: Source): Omit<SourceFields, "site" | "list"> {
  const { name, type, url, schedule_cron, time_zone, is_active, revisit } = source;
  const { config_id, config, collection_id, tags, priority } = source;
  return {
    ...{ name, type, url, schedule_cron, time_zone, is_active, revisit },
    ...{ config_id, config, collection_id, tags, priority },
  };
}

const withoutMissing = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function lineOf({ id, name, type, url, schedule_cron, time_zone, is_active, next_run_at }: Source): string {
  const when = schedule_cron === null ? "when asked" : `${schedule_cron} (${time_zone})`;
  const next = is_active ? (next_run_at === null ? "" : `, next ${next_run_at}`) : ", paused";
  const label = name === url ? "" : `  ${harmless(name)}`;
  return `${id}  ${type.padEnd(7)}  ${harmless(url)}${label}  ${when}${next}`;
}

function runLine({ job_id, status, stop_reason, error, counts, list, created_at }: Run): string {
  const why = error ?? (stop_reason !== null && stop_reason !== "completed" ? stop_reason : null);
  const { crawled, failed, skipped } = counts;
  const came = `${crawled} crawled, ${failed} failed, ${skipped} skipped`;
  const left = list === null || list.left === 0 ? "" : `, ${list.left} left for the next run`;
  return `${job_id}  ${created_at}  ${status.padEnd(9)}  ${came}${left}${why === null ? "" : `  (${harmless(why)})`}`;
}
