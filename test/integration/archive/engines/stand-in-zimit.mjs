#!/usr/bin/env node
/**
 * Prints and leaves what zimit 3.1.2 with browsertrix-crawler 1.14.1 does, by their sources, and crawls nothing. What
 * becomes of it, the query of its first seed says: `pages`, `code` (of the crawler), and `until`: `config`, `workers` or
 * `proxy`, without which it hangs; `storm` and `slow` are pages that fail or take too long after the others.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const VALUES = [
  ..."seeds seedFile title workers depth pageLimit scopeType scopeIncludeRx logging logLevel saveState".split(" "),
  ..."saveStateInterval config proxyServer output build zimit-progress-file acceptable-crawler-exit-codes".split(" "),
];
const known = {};
const others = {};
const args = process.argv.slice(2);
for (let at = 0; at < args.length; at++) {
  const [, name, value] = /^--([\w-]+)(?:=(.*))?$/s.exec(args[at]) ?? [];
  if (name === undefined) end(2, `zimit: error: unrecognized argument ${args[at]}`);
  const taken = value ?? args[++at];
  if (VALUES.includes(name)) known[name] = taken;
  else others[name] = taken;
}
// warc2zim checks its own before anything else
if (others.name === undefined || [...(known.title ?? "")].length > 30 || "warc2zim-refuses" in others) {
  end(2, "Exiting, invalid warc2zim params");
}
const [seed] = readFileSync(known.seedFile, "utf8").trim().split("\n");
const asked = Object.fromEntries(new URL(seed).searchParams);
const pages = Number(asked.pages ?? 3);
const code = Number(asked.code ?? 0);
const stamp = `${Date.now()}`;
const collection = join(known.build, "collections", `crawl-${stamp}`);
for (const folder of ["archive", "crawls"]) mkdirSync(join(collection, folder), { recursive: true });
const before = known.config ? Number(/finished: (\d+)/.exec(readFileSync(known.config, "utf8"))?.[1] ?? 0) : 0;

process.on("SIGTERM", () => {
  say("info", "general", "SIGNAL: interrupt request received");
  saveState();
  // the crawler's 11 is 3 of zimit
  end(3, "");
});

let crawled = before;
say("info", "general", "Browsertrix-Crawler 1.14.1 (with warcio.js 2.4.11)");
console.log("[zimit::INFO] Testing warc2zim args");
for (; crawled < pages; crawled++) {
  capture(new URL(`/page-${crawled + 1}`, seed).href, `Page ${crawled + 1} of the stand-in`);
  statistics(crawled + 1);
}
saveState();
if (asked.storm) fail(12, "Page Load Failed: retry limit reached", "net::ERR_CONNECTION_REFUSED at https://x.example/");
if (asked.slow) fail(12, "Page Worker Timeout", "timed out after 90 secs");
const helped =
  asked.until === undefined ||
  (asked.until === "config" && known.config !== undefined) ||
  (asked.until === "workers" && known.workers === "1") ||
  (asked.until === "proxy" && known.proxyServer !== undefined);
if (helped) finish();
else setInterval(() => say("info", "worker", "Waiting for pending page", { page: seed }), 1000);

function finish() {
  const accepted = (known["acceptable-crawler-exit-codes"] ?? "").split(",").includes(String(code));
  if (code !== 0 && (!accepted || asked.old)) end(code, `Crawl returned an error: ${code}, scraper exiting`);
  writeFileSync(join(known.output, `${others.name}_2026-01.zim`), "ZIM\u0004");
  writeFileSync(known["zimit-progress-file"], JSON.stringify({ done: pages, total: pages, partialZim: code !== 0 }));
  end(0, "Calling warc2zim");
}

function statistics(done) {
  const details = {
    crawled: done,
    total: pages,
    pending: done < pages ? 1 : asked.until ? 1 : 0,
    failed: 0,
    limit: { max: 0, hit: false },
  };
  say("info", "crawlStatus", "Crawl statistics", { ...details, excluded: 0, pendingPages: [] });
}

function fail(times, message, msg) {
  for (let at = 0; at < times; at++) say("error", "pageStatus", message, { msg, page: `${seed}#${at}` });
}

function say(logLevel, context, message, details = {}) {
  console.log(JSON.stringify({ timestamp: new Date().toISOString(), logLevel, context, message, details }));
}

function saveState() {
  writeFileSync(join(collection, "crawls", `crawl-${stamp}.yaml`), `state:\n  finished: ${crawled}\n`);
}

function capture(url, title) {
  const html = `<!doctype html><html lang="en"><title>${title}</title><main><p>${title}, as it was.</p></main></html>`;
  const http = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${html.length}\r\n\r\n${html}`;
  const head = [
    "WARC/1.1",
    "WARC-Type: response",
    `WARC-Target-URI: ${url}`,
    `WARC-Date: ${new Date().toISOString()}`,
    `WARC-Record-ID: <urn:uuid:${crypto.randomUUID()}>`,
    "Content-Type: application/http; msgtype=response",
    `Content-Length: ${http.length}`,
  ];
  appendFileSync(
    join(collection, "archive", `rec-stand-in-${stamp}-0.warc.gz`),
    gzipSync(`${head.join("\r\n")}\r\n\r\n${http}\r\n\r\n`),
  );
}

function end(exitCode, message) {
  if (message !== "") console.log(`[zimit::INFO] ${message}`);
  process.exit(exitCode);
}
