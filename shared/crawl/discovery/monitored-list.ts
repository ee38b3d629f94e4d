/**
 * Reads the feed or the sitemaps of a monitored source: each document under a condition, so that what has not changed
 * is not sent or not read again. It always ends: what goes wrong with a document becomes a note.
 */
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import { sha256, uuidv7 } from "../../platform/ids.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { retryTransient } from "../../platform/transient-errors.ts";
import { type HttpResponse, headerValue } from "../http/exchange.ts";
import { createFetcher, type FetcherDependencies, TimeUp } from "./fetcher.ts";
import { readList } from "./list-reader.ts";
import type { ListDocument, Listed, ListTask } from "./list-task.ts";
import { createListedEntries } from "./listed-entries.ts";
import { createNotes, type Notes } from "./notes.ts";
import type { ListEntry, ListKind } from "./parsed-list.ts";
import { writeListed } from "./result.ts";
import { isOfSite, parseSite } from "./site.ts";
import { DISCOVERED_QUEUE, type Discovered } from "./task.ts";

interface Dependencies extends FetcherDependencies {
  objects: ObjectStore;
  queues: QueueSender;
}

/** Documents of one run. */
const MOST_DOCUMENTS = 200;
/** Indexes within indexes. */
const DEEPEST_INDEX = 3;
const TRIES = 3;
const LONGEST_VALIDATOR = 500;
/** Kept of a delivery's time for writing the result. */
const RESERVE_MS = 60_000;
const ACCEPT =
  "application/atom+xml,application/rss+xml,application/feed+json,application/xml;q=0.9,text/xml;q=0.9,*/*;q=0.5";

/** Idempotent: a second delivery reads the same again, and the database side takes the first result. */
export async function readMonitoredList(
  dependencies: Dependencies,
  task: ListTask,
  { remainingMs, log }: { remainingMs(): number; log: Logger },
): Promise<void> {
  const { clock, objects, queues } = dependencies;
  const { jobId } = task;
  const end = clock.now() + remainingMs();
  const { listed, read, unchanged, fault, notes } = await readDocuments(dependencies, task, end - RESERVE_MS);
  const failed = read + unchanged === 0;
  const resultKey = failed
    ? null
    : await retryTransient(clock, { until: end }, () =>
        writeListed(objects, `discoveries/${jobId}/${uuidv7()}.json.zst`, listed),
      );
  const message: Discovered = {
    event: "listed",
    jobId,
    error: failed ? (fault ?? "NOTHING_READ: No document of the list could be read") : null,
    entries: listed.entries.length,
    documentsRead: read,
    documentsUnchanged: unchanged,
    resultKey,
    notes: notes.all(),
  };
  await retryTransient(clock, { until: end }, () => queues.send(DISCOVERED_QUEUE, message));
  log.info("a list was read", { job_id: jobId, entries: message.entries, read, unchanged, failed });
}

interface Wanted {
  url: URL;
  /** The date by which an index names it. */
  named: string | null;
  /** Indexes above it. */
  depth: number;
}

async function readDocuments(dependencies: Dependencies, { list, known }: ListTask, deadline: number) {
  const { clock, guard } = dependencies;
  const notes = createNotes();
  const entries = createListedEntries(list, guard, notes);
  const fetcher = createFetcher(dependencies, {
    signal: AbortSignal.timeout(Math.max(1, deadline - clock.now())),
    deadline,
  });
  const knownOf = new Map(known.map((each) => [each.url, each]));
  const documents: ListDocument[] = [];
  const seen = new Set<string>();
  let queue: Wanted[] = [{ url: new URL(list.url), named: null, depth: 0 }];
  let [read, unchanged] = [0, 0];
  let fault: string | null = null;
  const faulty = (url: URL, code: string, message: string): void => {
    fault ??= `${code}: ${message}`;
    notes.add(url.href, code, message);
  };
  const keep = (document: ListDocument): void => {
    documents.push(document);
    unchanged += 1;
  };

  const readOne = async (wanted: Wanted): Promise<void> => {
    const { url, named, depth } = wanted;
    const before = knownOf.get(url.href);
    if (before !== undefined && named !== null && before.named === named) return keep(before);
    const fetched = await fetcher.get(url, {
      accept: ACCEPT,
      robots: "obey",
      tries: TRIES,
      validators: validatorsOf(before),
    });
    if (fetched.fault !== null) {
      if (fetched.status === 304 && before !== undefined) return keep({ ...before, named });
      return faulty(url, fetched.fault.code, fetched.fault.message);
    }
    const document = documentOf(url, named, fetched.response);
    if (before !== undefined && before.digest === document.digest) return keep(document);
    const children: Wanted[] = [];
    const result = await readList(
      fetched.response,
      {
        page: (entry) => entries.take(entry, fetched.url),
        sitemap: (entry) => children.push(...childOf(entry, fetched.url, depth, notes)),
      },
      { document: fetched.url, enough: () => entries.full || children.length > MOST_DOCUMENTS * 5 },
    );
    const refused = refusalOf(list.type, result);
    if (refused !== undefined) return faulty(url, ...refused);
    read += 1;
    if (result.cut !== null) notes.add(url.href, result.cut.code, result.cut.message);
    if (result.kind === "index") {
      const ofSite = children.filter((child) => isChild(child.url, fetched.url, list.url, guard, notes));
      // what was never read comes first, so that a list too long for one run is read to its end by the next ones
      queue.push(...ofSite.sort((a, b) => Number(knownOf.has(a.url.href)) - Number(knownOf.has(b.url.href))));
      // what it names may have changed while it has not: an index is always read
    } else if (result.cut === null && !entries.full) documents.push(document);
  };

  try {
    for (let next = queue.shift(); next !== undefined && !entries.full; next = queue.shift()) {
      if (seen.has(next.url.href)) continue;
      if (seen.size >= MOST_DOCUMENTS) {
        const left = queue.length + 1;
        notes.add(list.url, "TOO_MANY_SITEMAPS", `${MOST_DOCUMENTS} documents are read at once: ${left} are left`);
        queue = [];
        break;
      }
      seen.add(next.url.href);
      await readOne(next);
    }
  } catch (error) {
    if (!(error instanceof TimeUp)) throw error;
    faulty(new URL(list.url), "TIME_LIMIT", "The time was up: what is left is read by the next run");
  }
  // documents that this run did not come to are as they were
  const kept = known.filter(({ url }) => !seen.has(url));
  const listed: Listed = { entries: entries.all(), documents: [...documents, ...kept] };
  return { listed, read, unchanged, fault, notes };
}

/** What makes the request conditional. */
function validatorsOf(document: ListDocument | undefined): [string, string][] {
  const { etag = null, last_modified = null } = document ?? {};
  return [
    ...(etag === null ? [] : ([["if-none-match", etag]] as [string, string][])),
    ...(last_modified === null ? [] : ([["if-modified-since", last_modified]] as [string, string][])),
  ];
}

function documentOf(url: URL, named: string | null, { headers, body }: HttpResponse): ListDocument {
  const validator = (name: string): string | null => {
    const value = headerValue(headers, name) ?? null;
    return value !== null && value.length <= LONGEST_VALIDATOR ? value : null;
  };
  return {
    url: url.href,
    etag: validator("etag"),
    last_modified: validator("last-modified"),
    digest: sha256(body).toString("hex"),
    named,
  };
}

function childOf(entry: ListEntry, index: URL, depth: number, notes: Notes): Wanted[] {
  const url = entry.url === null ? null : URL.parse(entry.url);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    notes.count(index.href, "URL_INVALID", "Sitemaps of an index that are no absolute http(s) URLs");
    return [];
  }
  if (depth >= DEEPEST_INDEX) {
    notes.count(index.href, "INDEX_TOO_DEEP", `Sitemaps below ${DEEPEST_INDEX} indexes are not read`);
    return [];
  }
  url.hash = "";
  return [{ url, named: entry.dated, depth: depth + 1 }];
}

function isChild(url: URL, index: URL, list: string, guard: Dependencies["guard"], notes: Notes): boolean {
  if (url.host === index.host || isOfSite(url, parseSite(new URL(list).origin, guard))) return true;
  notes.count(index.href, "WRONG_HOST", "Sitemaps of an index that are on other hosts");
  return false;
}

/** Why a document is not what the source says that it is. */
function refusalOf(
  type: ListTask["list"]["type"],
  { kind, root, cut }: { kind: ListKind; root: string | undefined; cut: { code: string; message: string } | null },
): [code: string, message: string] | undefined {
  if (kind === "html") return ["HTML_INSTEAD", "It is an HTML page, no feed or sitemap"];
  if (kind === "empty") return cut === null ? ["EMPTY_BODY", "It is empty"] : [cut.code, cut.message];
  if (kind === "unknown") {
    return ["NOT_A_LIST", `It is no feed or sitemap${root === undefined ? "" : `: its root element is ${root}`}`];
  }
  if (type === "feed" && kind !== "feed") {
    return ["NOT_A_FEED", 'It is a sitemap: give the source the type "sitemap"'];
  }
  return undefined;
}
