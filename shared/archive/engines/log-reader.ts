/**
 * Reads the log of zimit as it grows, in the memory of one line: JSON lines of the crawler, among those of others.
 * Context and messages as of browsertrix-crawler 1.14.1.
 */
import type { CrawlStats, LogSummary } from "./run-files.ts";

/** A longer line is passed over: statistics name ten pages at the most. */
const LONGEST_LINE = 64 * 1024;
const LINE_END = 10;

export interface LogReader {
  push(bytes: Uint8Array): void;
  summary(): LogSummary;
}

/** @param from what an earlier reader of the same log had found */
export function createLogReader(from?: LogSummary): LogReader {
  const found: LogSummary = from ? { ...from } : { lines: 0, brokenLines: 0, stats: null, httpFaults: 0, timeouts: 0 };
  let line: Buffer[] = [];
  let length = 0;
  const end = () => {
    found.lines++;
    if (length > LONGEST_LINE) found.brokenLines++;
    else if (length > 0) takeLine(found, Buffer.concat(line).toString("utf8"));
    line = [];
    length = 0;
  };
  return {
    push(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const next = bytes.indexOf(LINE_END, at);
        const piece = bytes.subarray(at, next < 0 ? bytes.length : next);
        length += piece.length;
        if (length <= LONGEST_LINE) line.push(Buffer.from(piece));
        else line = [];
        if (next < 0) return;
        end();
        at = next + 1;
      }
    },
    summary: () => ({ ...found }),
  };
}

function takeLine(found: LogSummary, text: string): void {
  const trimmed = text.trim();
  // zimit's own lines, and what warc2zim says, are no JSON
  if (!trimmed.startsWith("{")) return;
  let entry: unknown;
  try {
    entry = JSON.parse(trimmed);
  } catch {
    found.brokenLines++;
    return;
  }
  const { context, message, details, logLevel } = entry as Record<string, unknown>;
  if (message === "Crawl statistics" && context === "crawlStatus") {
    takeStats(found, details);
    return;
  }
  if (logLevel !== "warn" && logLevel !== "error") return;
  const fault = faultOf(String(message ?? ""), details);
  if (fault !== undefined) found[fault]++;
}

function takeStats(found: LogSummary, details: unknown): void {
  const stats = statsOf(details);
  if (stats === undefined) {
    found.brokenLines++;
    return;
  }
  if (stats.crawled > (found.stats?.crawled ?? 0)) {
    found.httpFaults = 0;
    found.timeouts = 0;
  }
  found.stats = stats;
}

/** undefined where they are none that can be counted with. */
function statsOf(details: unknown): CrawlStats | undefined {
  if (typeof details !== "object" || details === null) return undefined;
  const { crawled, total, failed, pending, limit } = details as Record<string, unknown>;
  if (!isCount(crawled) || !isCount(total)) return undefined;
  return {
    crawled,
    total,
    // those that are open now, where they are told
    pending: isCount(pending) ? Math.max(pending, total - crawled - (isCount(failed) ? failed : 0)) : null,
    failed: isCount(failed) ? failed : 0,
    limitHit: typeof limit === "object" && limit !== null && (limit as Record<string, unknown>)["hit"] === true,
  };
}

const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

const TIMEOUT = /time(d )?[ -]?out/i;
const HTTP_FAULT =
  /ERR_(CONNECTION|NAME_NOT|SSL|CERT|HTTP2|EMPTY|NETWORK|ADDRESS|PROXY|TUNNEL)|HTTP error|Page Load (Failed|Error)/i;

/** A page that took too long, or one that its server, or the way to it, refused. */
function faultOf(message: string, details: unknown): "timeouts" | "httpFaults" | undefined {
  const { msg, status } = (typeof details === "object" && details !== null ? details : {}) as Record<string, unknown>;
  const text = `${message} ${typeof msg === "string" ? msg : ""}`;
  if (TIMEOUT.test(text)) return "timeouts";
  if (HTTP_FAULT.test(text) || (isCount(status) && (status === 429 || status >= 500))) return "httpFaults";
  return undefined;
}
