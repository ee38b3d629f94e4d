import { describe, expect, it, test } from "vitest";
import { verdictOf } from "../../../../shared/archive/engines/exit-codes.ts";
import { createLogReader } from "../../../../shared/archive/engines/log-reader.ts";
import { readPassthrough } from "../../../../shared/archive/engines/passthrough.ts";
import {
  type Done,
  type Ended,
  type Limits,
  nextAfter,
  type RunState,
  reasonToStop,
  runMode,
} from "../../../../shared/archive/engines/supervise.ts";
import { zimitCommand } from "../../../../shared/archive/engines/zimit-command.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);

const LIMITS: Limits = {
  monitored: true,
  stallMinutes: 30,
  timeouts: 10,
  httpFaults: 10,
  adaptive: true,
  fewestWorkers: 1,
  mostReductions: 2,
  rotates: true,
  mostRotations: 3,
  rotationMinutes: 60,
  mostResumes: 3,
  mostBackOffs: 2,
  backOffMinutes: 15,
};
const STATS = { crawled: 5, total: 9, pending: 4, failed: 0, limitHit: false };

describe("a run", () => {
  const running: RunState = {
    status: "running",
    workers: 4,
    startedAt: ago(300),
    progressAt: ago(1),
    reportedAt: ago(0),
    stats: STATS,
    httpFaults: 0,
    timeouts: 0,
  };
  const stalled = { progressAt: ago(30) };

  it.each<[string, Partial<RunState>, Partial<Limits>, string | undefined]>([
    ["goes on while pages come", {}, {}, undefined],
    ["goes on a minute before it counts as stalled", { progressAt: ago(29) }, {}, undefined],
    ["is stalled with pages pending", stalled, {}, "no page came for 30 minutes"],
    [
      "is stalled where nobody knows whether any are",
      { ...stalled, stats: { ...STATS, pending: null } },
      {},
      "no page",
    ],
    ["is stalled before it says anything", { ...stalled, stats: null }, {}, "no page"],
    ["writes its ZIM file with none pending", { ...stalled, stats: { ...STATS, pending: 0 } }, {}, undefined],
    ["is not watched unless somebody asks for it", stalled, { monitored: false }, undefined],
    ["is stormed by faults", { httpFaults: 10 }, {}, "10 pages in a row failed"],
    ["takes nine faults", { httpFaults: 9, timeouts: 9 }, {}, undefined],
    ["is stormed by timeouts", { timeouts: 10 }, {}, "10 pages in a row took too long"],
    ["is silent", { reportedAt: ago(10) }, {}, "nothing was heard of it for 10 minutes"],
    ["is silent, unwatched too", { reportedAt: ago(10) }, { monitored: false }, "nothing was heard"],
    ["waits for its task", { status: "starting", startedAt: ago(19) }, {}, undefined],
    ["has no task", { status: "starting", startedAt: ago(20) }, {}, "did not begin within 20 minutes"],
    ["is ended once", { status: "stopping", ...stalled, httpFaults: 99 }, {}, undefined],
  ])("%s", (_, state, limits, reason) => {
    const found = reasonToStop({ ...running, ...state }, { ...LIMITS, ...limits }, NOW);
    if (reason === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(reason);
  });
});

describe("after a run", () => {
  const none: Done = { counts: { fewer_workers: 0, rotated: 0, resumed: 0, backed_off: 0 }, rotatedAt: null };
  const done = (counts: Partial<Done["counts"]>, rotatedAt: Date | null = null): Done => ({
    counts: { ...none.counts, ...counts },
    rotatedAt,
  });
  const stopped: Ended = { verdict: "interrupted", workers: 3, stopReason: "no page came" };
  const reduced = { fewer_workers: 2 };
  const rotated = { ...reduced, rotated: 3 };
  const resumed = { ...rotated, resumed: 3 };

  it.each<[string, Partial<Ended>, Done, Partial<Limits>, string]>([
    ["that succeeded, all is there", { verdict: "succeeded" }, none, {}, "complete"],
    ["that met a limit, what there is counts", { verdict: "limited" }, none, {}, "complete"],
    ["that was refused, no other would be taken", { verdict: "refused" }, none, {}, "fail"],
    ["with three workers, there are two", {}, none, {}, "fewer_workers 2"],
    ["with the fewest workers, it goes another way", { workers: 1 }, none, {}, "rotated 1"],
    ["with no reduction left, it goes another way", {}, done(reduced), {}, "rotated 3"],
    ["where workers stay, it goes another way", {}, none, { adaptive: false }, "rotated 3"],
    ["rotated just now, it goes on where it stood", {}, done(reduced, ago(59)), {}, "resumed 3"],
    ["rotated an hour ago, it does so again", {}, done({ ...reduced, rotated: 1 }, ago(60)), {}, "rotated 3"],
    ["with no rotation left, it goes on", {}, done(rotated), {}, "resumed 3"],
    ["without a way to rotate, it goes on", {}, done(reduced), { rotates: false }, "resumed 3"],
    ["resumed often enough, it waits", {}, done(resumed), {}, "backed_off 3 after 15"],
    ["that waited once, it waits longer", {}, done({ ...resumed, backed_off: 1 }), {}, "backed_off 3 after 30"],
    ["with nothing left to do, it has failed", {}, done({ ...resumed, backed_off: 2 }), {}, "fail"],
    ["that failed by itself, too", { verdict: "failed", stopReason: null }, none, {}, "fewer_workers 2"],
    ["whose machine went, it goes on as it was", { stopReason: null }, none, {}, "resumed 3"],
    ["whose machine went, unwatched too", { stopReason: null }, none, { monitored: false }, "resumed 3"],
    [
      "that failed unwatched, its job decides",
      { verdict: "failed", stopReason: null },
      none,
      { monitored: false, mostBackOffs: 0 },
      "fail",
    ],
  ])("%s", (_, ended, before, limits, expected) => {
    const next = nextAfter({ ...stopped, ...ended }, { ...LIMITS, ...limits }, before, NOW);
    const minutes = next.what === "run" ? (next.notBefore.getTime() - NOW.getTime()) / 60_000 : 0;
    const said =
      next.what === "run" ? `${next.by} ${next.workers}${minutes > 0 ? ` after ${minutes}` : ""}` : next.what;
    expect(said).toBe(expected);
  });
});

test("a run begins by what earlier ones left", () => {
  const mode = (earlierRuns: number, state: string | null, warcFiles: number, overwrites = false) =>
    runMode({ earlierRuns, state, warcFiles, overwrites });
  expect([mode(0, null, 0), mode(0, null, 0, true)]).toEqual(["fresh", "fresh"]);
  expect([mode(1, "s", 2), mode(1, "s", 0), mode(1, null, 2), mode(1, null, 0)]).toEqual([
    "resume",
    "resume",
    "consolidate",
    "fresh",
  ]);
  expect([mode(1, "s", 2, true), mode(2, null, 0, true)]).toEqual(["overwrite", "overwrite"]);
});

test("the end of a run is told by its exit code and by what there is", () => {
  const end = (exitCode: number | null, { warcFiles = 1, interrupted = false, partial = false } = {}) =>
    verdictOf({ exitCode, warcFiles, interrupted, partial }).verdict;
  expect(end(0)).toBe("succeeded");
  expect(end(0, { partial: true })).toBe("limited");
  for (const code of [14, 15, 16, 32, 33]) {
    expect([code, end(code), end(code, { interrupted: true })]).toEqual([code, "limited", "limited"]);
    expect([code, end(code, { warcFiles: 0 })]).toEqual([code, "failed"]);
  }
  expect(end(0, { warcFiles: 0 })).toBe("failed");
  for (const code of [2, 4]) expect([code, end(code)]).toEqual([code, "refused"]);
  // out of space where nobody asked it to end
  expect([end(3), end(3, { interrupted: true })]).toEqual(["failed", "interrupted"]);
  for (const code of [11, 13, 130, 137, 143, null]) expect([code, end(code)]).toEqual([code, "interrupted"]);
  for (const code of [1, 8, 9, 10, 12, 17, 18, 21, 22, 255]) expect([code, end(code)]).toEqual([code, "failed"]);
});

const line = (message: string, details: unknown, more: Record<string, unknown> = {}) =>
  `${JSON.stringify({ timestamp: "2026-03-01T12:00:00Z", logLevel: "info", context: "crawlStatus", message, details, ...more })}\n`;
const statistics = (details: unknown) => line("Crawl statistics", details);

describe("the log of zimit", () => {
  const read = (text: string, piece = 7) => {
    const reader = createLogReader();
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += piece) reader.push(bytes.subarray(at, at + piece));
    return reader.summary();
  };

  it("tells the newest statistics, however it comes", () => {
    const limit = { max: 0, hit: false };
    const text =
      "[zimit::2026-03-01] INFO:Testing warc2zim args — ä\n" +
      statistics({ crawled: 1, total: 5, pending: 1, failed: 0, limit, pendingPages: ["{}"] }) +
      statistics({ crawled: 3, total: 9, pending: 1, failed: 2, excluded: 0, limit: { max: 9, hit: true } });
    for (const piece of [1, 7, 10_000]) {
      expect(read(text, piece)).toMatchObject({
        lines: 3,
        brokenLines: 0,
        // four are neither crawled nor failed
        stats: { crawled: 3, total: 9, pending: 4, failed: 2, limitHit: true },
      });
    }
  });

  it("counts what is broken, and goes on", () => {
    const text =
      '{"context":"crawlStatus","message":"Crawl statistics","details":{"crawled":1\n' +
      statistics({ crawled: -1, total: 2 }) +
      statistics({ crawled: "3", total: 2 }) +
      statistics(null) +
      `{"message":"${"x".repeat(70_000)}"}\n` +
      statistics({ crawled: 2, total: 2, pending: 0, failed: 0 });
    expect(read(text, 4_096)).toMatchObject({ lines: 6, brokenLines: 5, stats: { crawled: 2, pending: 0 } });
  });

  it("counts faults since a page came last", () => {
    const fault = (message: string, details: unknown = {}, context = "general") =>
      line(message, details, { logLevel: "error", context });
    const faults =
      fault("Page Load Failed: retry limit reached", { msg: "net::ERR_CONNECTION_REFUSED at https://a.example/" }) +
      fault("Page Worker Timeout", {}, "worker") +
      fault("Page Load Timeout, skipping page", { msg: "Navigation timeout of 90000 ms exceeded" });
    const text = statistics({ crawled: 1, total: 9, pending: 1, failed: 0 }) + faults;
    expect(read(text)).toMatchObject({ httpFaults: 1, timeouts: 2 });
    const same = statistics({ crawled: 1, total: 9, pending: 1, failed: 1 });
    expect(read(text + same)).toMatchObject({ httpFaults: 1, timeouts: 2 });
    const more = statistics({ crawled: 2, total: 9, pending: 1, failed: 1 });
    expect(read(text + more)).toMatchObject({ httpFaults: 0, timeouts: 0 });
    // what is told in passing is no fault
    expect(read(line("Waiting for timeout", {}))).toMatchObject({ timeouts: 0 });
  });

  it("of a gigabyte without a line end takes no more memory than a line", () => {
    const reader = createLogReader();
    const piece = Buffer.alloc(1024 * 1024, "x");
    const before = process.memoryUsage().arrayBuffers;
    for (let at = 0; at < 1024; at++) reader.push(piece);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    reader.push(Buffer.from(`\n${statistics({ crawled: 7, total: 7, pending: 0, failed: 0 })}`));
    expect(reader.summary()).toMatchObject({ lines: 2, brokenLines: 1, stats: { crawled: 7 } });
  });
});

describe("the command line of zimit", () => {
  const command = (args: string[], more: Partial<Parameters<typeof zimitCommand>[0]> = {}) =>
    zimitCommand({
      jobName: "hc-20260301",
      title: "Health Canada",
      workers: 2,
      logLevel: "INFO",
      passthrough: readPassthrough(args).options,
      resumes: false,
      ...more,
    });

  it("has ours first, and then what is passed through", () => {
    const written = command(["--depth", "-1", "--scopeExcludeRx=-old", "--exact", "--lang", "en"]);
    expect(written.slice(0, 5)).toEqual(["zimit", "--seedFile", "{output}/.run/seeds.txt", "--name", "hc-20260301"]);
    expect(written).toContain("--build");
    expect(written).not.toContain("--config");
    expect(written.slice(-4)).toEqual(["--depth=-1", "--exact", "--lang=en", "--scopeExcludeRx=(?:-old)"]);
    expect(command([], { resumes: true })).toContain("{output}/.run/state.yaml");
  });

  it("joins patterns, of which zimit takes one", () => {
    const written = command(["--scopeIncludeRx", "^https://a/", "--depth=1", "--scopeIncludeRx", "^https://b/|c"]);
    expect(written.slice(-2)).toEqual(["--depth=1", "--scopeIncludeRx=(?:^https://a/)|(?:^https://b/|c)"]);
  });

  it("cuts the title to what a ZIM file may have", () => {
    const title = command([], { title: `${"é".repeat(29)}👩‍👩‍👧 and more` });
    expect(title[title.indexOf("--title") + 1]).toBe(`${"é".repeat(29)}👩‍👩‍👧`);
  });

  it("has no title that would be taken for an option", () => {
    const titleOf = (title: string) => command([], { title })[6];
    expect(command([])[5]).toBe("--title");
    expect([titleOf("--help"), titleOf("- of health"), titleOf("--")]).toEqual(["help", "of health", "hc-20260301"]);
  });
});
