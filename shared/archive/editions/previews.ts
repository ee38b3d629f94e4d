/**
 * Pictures of the entry pages of editions. Each is ordered of the browser for media, which asks web sites by the rules
 * of crawls, and fetched from there a minute later; a row stands for it until then.
 */
import { artefactSchema, MEDIA_QUEUE, type MediaRequest } from "../../crawl/tasks/media-request.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { RemoteAnswers, RemoteCall } from "../../platform/aws/remote-call.ts";
import type { Queryable, Sql, Transaction } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { sha256 } from "../../platform/ids.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { isShown } from "../exclusions/is-shown.ts";
import { isSnapshot } from "../snapshots/snapshots.ts";
import type { ArchiveJob } from "./archive-jobs.ts";
import { jobName } from "./job-name.ts";
import { SOURCE_LANGUAGES, type SourceLanguage } from "./source.ts";
import { readEntry, readSource } from "./sources.ts";

export interface PreviewDependencies {
  sql: Sql;
  queues: QueueSender;
  log: Logger;
  objects: Pick<ObjectStore, "get" | "put">;
  answers: RemoteAnswers;
  /** Where captures are replayed for anybody; empty where that is unknown, or wants a key. */
  replayUrl: string;
}

/** Below it lie the pictures. */
export const PREVIEWS_PREFIX = "previews/";

const WINDOW = { width: 1280, height: 800, mobile: false };
const FORMAT = "webp";
/** The longest that the browser's function runs is a minute. */
const WORK_MS = 50_000;
/** For an answer that is written at the last moment. */
const GRACE_MS = 10_000;
const MOST_TRIES = 4;
/** Milliseconds for which a page is taken for what was captured of it. */
const FRESH_MS = 24 * 3_600_000;
const AT_ONCE = 10;

/** Orders a picture of each entry page that the job has captured, where there is none yet: also when indexed anew. */
export async function planPreviews(tx: Transaction, { id, sourceCode }: Pick<ArchiveJob, "id" | "sourceCode">) {
  const { entryPages } = await readSource(tx, sourceCode);
  for (const language of SOURCE_LANGUAGES) {
    const url = entryPages[language];
    const entry = url === undefined ? undefined : await readEntry(tx, { code: sourceCode, url, jobId: id });
    if (entry === undefined) continue;
    await tx`
      insert into edition_previews as p (archive_job_id, language, capture_id) values (${id}, ${language}, ${entry.id})
      on conflict (archive_job_id, language) do update
        set (capture_id, status, tries, not_before, error) = (excluded.capture_id, 'due', 0, now(), null)
      where p.status = 'failed'`;
  }
}

interface Open {
  jobId: number;
  language: SourceLanguage;
  sourceCode: string;
  engine: ArchiveJob["engine"];
  url: string;
  capturedAt: Date;
  callId: string;
  deadline: Date;
  tries: number;
}

/**
 * What is to be seen in the picture. Captures of our own crawler are without images and style sheets, so the page
 * itself is shown, as long as it is what was captured; of others, their replay.
 */
export function picturedUrl(
  { engine, url, capturedAt }: Pick<Open, "engine" | "url" | "capturedAt">,
  replayUrl: string,
  now: Date,
): string | undefined {
  const isFresh = now.getTime() - capturedAt.getTime() < FRESH_MS;
  if (replayUrl === "" || (engine === "native" && isFresh)) return isFresh ? url : undefined;
  return `${replayUrl}/${jobName("{date:%Y%m%d%H%M%S}", capturedAt)}mp_/${url}`;
}

/** Goes on with those that are open: what is due is ordered, and what was ordered is fetched. */
export async function takePreviews(dependencies: PreviewDependencies, hasTime: () => boolean, now: Date) {
  for (const step of [fetchOrdered, orderDue]) if (hasTime()) await step(dependencies, now);
}

const columns = (sql: Queryable) => sql`
  p.archive_job_id as "jobId", p.language, a.source_code as "sourceCode", a.engine, c.final_url as url,
  c.fetched_at as "capturedAt", p.call_id as "callId", p.deadline, p.tries`;

async function orderDue(dependencies: PreviewDependencies, now: Date): Promise<void> {
  const { sql, queues, replayUrl } = dependencies;
  const due = await sql<Open[]>`
    update edition_previews p set status = 'ordered', call_id = gen_random_uuid(), tries = p.tries + 1,
      deadline = ${new Date(now.getTime() + WORK_MS)}
    from archive_jobs a, captures c
    where a.id = p.archive_job_id and c.id = p.capture_id and (p.archive_job_id, p.language) in (
      select archive_job_id, language from edition_previews where status = 'due' and not_before <= ${now}
      order by not_before limit ${AT_ONCE} for update skip locked)
    returning ${columns(sql)}`;
  for (const each of due) {
    const url = picturedUrl(each, replayUrl, now);
    if (url === undefined) {
      const why = "the page was captured over a day ago, and its replay cannot be shown here";
      await note(dependencies, each, new ApiError(422, why, { code: "NO_PREVIEW" }), now);
      continue;
    }
    const request: MediaRequest = {
      kind: "screenshot",
      url,
      waitFor: null,
      waitSeconds: 1,
      respectRobotsTxt: url === each.url,
      window: WINDOW,
      actions: [],
      headers: {},
      cookies: [],
      fullPage: false,
      format: FORMAT,
    };
    const call: RemoteCall = { callId: each.callId, deadline: each.deadline.getTime(), request };
    // what is not sent is ordered again behind its deadline
    await queues.send(MEDIA_QUEUE, call);
  }
}

async function fetchOrdered(dependencies: PreviewDependencies, now: Date): Promise<void> {
  const { sql, answers } = dependencies;
  const ordered = await sql<Open[]>`
    select ${columns(sql)} from edition_previews p join archive_jobs a on a.id = p.archive_job_id
      join captures c on c.id = p.capture_id
    where p.status = 'ordered' order by p.deadline limit ${10 * AT_ONCE}`;
  for (const each of ordered) {
    try {
      const answer = await answers.read(each.callId);
      if (answer !== undefined) await keep(dependencies, each, answer.value);
      else if (now.getTime() > each.deadline.getTime() + GRACE_MS) {
        throw new ApiError(504, "no browser answered in time", { code: "REMOTE_TIMEOUT" });
      }
    } catch (error) {
      await note(dependencies, each, error, now);
    }
  }
}

/** @throws ApiError where the picture is not one of the page */
async function keep({ sql, objects, replayUrl, log }: PreviewDependencies, open: Open, answer: unknown): Promise<void> {
  const { jobId, language, sourceCode } = open;
  const { key: from, contentType, status, finalUrl } = artefactSchema.parse(answer);
  if (status < 200 || status > 299) {
    throw new ApiError(422, `the page answered with the status ${status}`, { code: `HTTP_${status}` });
  }
  const hosts = [open.url, replayUrl].filter((url) => url !== "").map((url) => new URL(url).host);
  if (!hosts.includes(new URL(finalUrl).host)) {
    throw new ApiError(422, "the page leads to another host now", { code: "NO_PREVIEW" });
  }
  const picture = await objects.get(from);
  if (picture === undefined) throw new ApiError(504, "the picture is no longer there", { code: "REMOTE_TIMEOUT" });
  const key = `${PREVIEWS_PREFIX}${sourceCode}/${jobId}/${language}.${FORMAT}`;
  await objects.put(key, picture, contentType);
  await sql`
    update edition_previews set status = 'taken', object_key = ${key}, content_type = ${contentType},
      bytes = ${picture.length}, sha256 = ${sha256(picture).toString("hex")}, taken_at = now(), error = null
    where archive_job_id = ${jobId} and language = ${language} and call_id = ${open.callId}`;
  log.info("an entry page has a preview", { archive_job_id: jobId, language });
}

/** Another try is made later, unless it would be refused as well. */
async function note({ sql, log }: PreviewDependencies, open: Open, error: unknown, now: Date): Promise<void> {
  const { jobId, language, tries } = open;
  const isRefused = error instanceof ApiError && error.status < 500 && error.status !== 429;
  const isOver = isRefused || tries >= MOST_TRIES;
  const message = error instanceof Error ? error.message : String(error);
  log.warn(isOver ? "an entry page gets no preview" : "an entry page has no preview yet: it is tried again", {
    archive_job_id: jobId,
    language,
    error,
  });
  await sql`
    update edition_previews set status = ${isOver ? "failed" : "due"}, error = ${message.slice(0, 1_000)},
      not_before = ${new Date(now.getTime() + 2 ** tries * 60_000)}
    where archive_job_id = ${jobId} and language = ${language} and call_id = ${open.callId}`;
}

export interface Preview {
  jobId: number;
  language: SourceLanguage;
  key: string;
  contentType: string;
  bytes: number;
  sha256: string;
}

/** That of a source, as readers are shown it: in a language, else in another one; of one job, or of the newest. */
export async function readPreview(
  sql: Queryable,
  { code, language, jobId }: { code: string; language: SourceLanguage; jobId?: number | undefined },
): Promise<Preview | undefined> {
  const [found] = await sql<Preview[]>`
    select p.archive_job_id as "jobId", p.language, p.object_key as key, p.content_type as "contentType", p.bytes, p.sha256
    from edition_previews p join archive_jobs a on a.id = p.archive_job_id join sources s on s.code = a.source_code
      join captures c on c.id = p.capture_id
    where a.source_code = ${code} and not s.reserved and p.status = 'taken' and ${isSnapshot(sql)} and ${isShown(sql)}
      and ${jobId === undefined ? sql`true` : sql`a.id = ${jobId}`}
    order by p.language = ${language} desc, a.id desc limit 1`;
  return found;
}
