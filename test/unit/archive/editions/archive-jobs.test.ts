import { describe, expect, it, test } from "vitest";
import { isJobName, jobName, outputDir, templateFault } from "../../../../shared/archive/editions/job-name.ts";
import {
  type ArchiveJobEvent,
  JOB_STATUSES,
  MOST_RETRIES,
  nextStatus,
} from "../../../../shared/archive/editions/job-status.ts";
import { nativeCrawl } from "../../../../shared/archive/editions/native-crawl.ts";
import { toolOptionsSchema } from "../../../../shared/archive/editions/tool-options.ts";
import { readPassthrough } from "../../../../shared/archive/engines/passthrough.ts";

const EVENTS: ArchiveJobEvent[] = [
  "crawl_started",
  "crawl_succeeded",
  "crawl_failed",
  "index_started",
  "index_succeeded",
  "index_failed",
  "retried",
];

/** Each state, and where each event leads from there; nothing else is allowed. */
const TABLE: Record<string, Partial<Record<ArchiveJobEvent, string>>> = {
  queued: { crawl_started: "running" },
  running: { crawl_succeeded: "completed", crawl_failed: "retryable" },
  retryable: { crawl_started: "running" },
  failed: { retried: "retryable" },
  completed: { index_started: "indexing", index_failed: "index_failed" },
  indexing: { index_succeeded: "indexed", index_failed: "index_failed" },
  indexed: { index_started: "indexing" },
  index_failed: { index_started: "indexing", retried: "completed" },
};

test("a job goes from state to state as the table has it, and no other way", () => {
  const found = Object.fromEntries(
    JOB_STATUSES.map((status) => [
      status,
      Object.fromEntries(
        EVENTS.map((event) => [event, nextStatus(status, event, 0)]).filter(([, next]) => next !== undefined),
      ),
    ]),
  );
  expect(found).toEqual(TABLE);
  expect(nextStatus("running", "crawl_failed", MOST_RETRIES)).toBe("failed");
});

test("job names are no paths, and templates make names", () => {
  for (const name of ["hc-20251209", "a", "A.b_c-1"]) expect([name, isJobName(name)]).toEqual([name, true]);
  for (const name of ["", "..", "a/b", "a\\b", "../a", "-a", ".a", "a b", "a\n", "ä", "a..b", "x".repeat(101)]) {
    expect([name, isJobName(name)]).toEqual([name, false]);
  }
  const at = new Date("2025-12-09T21:09:11Z");
  expect(jobName("hc-{date:%Y%m%d}", at)).toBe("hc-20251209");
  expect(outputDir("hc", "hc-20251209", at)).toBe("archive-jobs/hc/20251209T210911Z__hc-20251209/");
  expect(outputDir("hc", "hc-20251209", at, 12)).toBe("archive-jobs/hc/20251209T210911Z__hc-20251209__12/");
  for (const template of ["hc", "hc-{date:%Y%m%d}", "{date:%Y%m%dT%H%M%S}"])
    expect(templateFault(template)).toBeUndefined();
  for (const template of ["", "{name}", "{date:%Q}", "a/{date:%Y}", "{date:%Y/%m}", "{date:%", "a-{date:%}"]) {
    expect([template, templateFault(template)]).not.toEqual([template, undefined]);
  }
});

describe("arguments that are passed through", () => {
  it("are options with their values", () => {
    const { options, faults } = readPassthrough([
      "--depth",
      "-1",
      "--userAgent=A b",
      "--allowHashUrls",
      "--lang",
      "fr",
    ]);
    expect(faults).toEqual([]);
    expect(options.map(({ name, value }) => [name, value])).toEqual([
      ["depth", "-1"],
      ["userAgent", "A b"],
      ["allowHashUrls", undefined],
      ["lang", "fr"],
    ]);
  });

  it.each([
    [["--output", "/x"], 0, "override --output"],
    [["--out=/x"], 0, "override --output"],
    [["--OUTPUT=/x"], 0, "override --output"],
    [["--seed-file", "/etc/passwd"], 0, "override --seedFile"],
    [["--depth", "1", "--workers", "9"], 2, "override --workers"],
    [["--userAgent", "a", "--user-agent", "b"], 2, "comes twice"],
    [["-w", "3"], 0, "short option"],
    [["--", "rm"], 0, "belongs to no option"],
    [["--title", "a\u0000b"], 1, "control character"],
    [["--title=a\nb"], 0, "control character"],
    [["--userAgentSuffix"], 0, "needs a value"],
    [["--depth", "many"], 0, "a whole number"],
    [["--pageLimit=1.5"], 0, "a whole number"],
    [["--headless", "true"], 0, "takes no value"],
    [["--scopeType=Host"], 0, "one of page, page-spa, prefix"],
    [["--pagelimit", "5"], 0, "is spelt --pageLimit"],
    [["--zim_lang=eng"], 0, "is spelt --zim-lang"],
    [["--pageLim=5"], 0, "write --pageLimit whole"],
    [["--include", "x"], 0, "write --include-domains whole"],
    [["--userAgent=-x"], 0, "may not begin with a hyphen"],
    [["--depth=1", "--sizeSoftLimit=9", "--sizeHardLimit", "9"], 2, "excludes --sizeSoftLimit"],
    [["--lang=en", "--lang=fr"], 1, "comes twice"],
    [["--dryRun"], 0, "lets no crawl"],
    [["--version"], 0, "lets no crawl"],
    [[`--title=${"x".repeat(31)}`], 0, "30 characters"],
    [[`--description=${"é".repeat(81)}`], 0, "80 characters"],
    [["--zim-file=../x.zim"], 0, "is no path"],
    [["--zim-file=x_{month}.zim"], 0, "{period}"],
    [["--favicon=icon.png"], 0, "URL"],
    [["--zim-lang=eng,fra"], 0, "one language"],
    [["--encoding-aliases=a"], 0, "alias=encoding"],
  ] as [string[], number, string][])("%j is refused", (args, index, told) => {
    const [fault] = readPassthrough(args).faults;
    expect(fault?.index).toBe(index);
    expect(fault?.message).toContain(told);
  });

  it("may be what neither zimit nor warc2zim had when this was written, and what they take several of", () => {
    const args = ["--brandNew", "--include-domains=a.example", "--include-domains=b.example", "--zim-lang", "fra"];
    const more = ["--zim-file=x_{period}.zim", "--encoding-aliases=a=b,c=d", "--creator=-", "--depth=-1"];
    expect(readPassthrough([...args, ...more]).faults).toEqual([]);
  });

  it("are what the native crawler does, or are refused", () => {
    const seeds = ["https://www.example.org/en/health.html"];
    const args = [
      "--pageLimit",
      "50",
      "--depth=3",
      "--scopeType",
      "host",
      "--scopeExcludeRx",
      "/old/",
      "--timeSoftLimit",
      "60",
    ];
    expect(nativeCrawl({ seeds, zimit_passthrough_args: args }).crawl).toEqual({
      kind: "site",
      seeds,
      scope: { mode: "host", roots: ["www.example.org"], include: [], exclude: ["/old/"] },
      maxDepth: 3,
      maxPages: 50,
      timeoutS: 60,
    });
    expect(nativeCrawl({ seeds, zimit_passthrough_args: [] }).crawl).toMatchObject({
      scope: { mode: "prefix", roots: ["www.example.org/en/"] },
      maxPages: 1_000_000,
      timeoutS: null,
    });
    for (const bad of [
      ["--depth", "x"],
      ["--pageLimit"],
      ["--scopeType", "custom"],
      ["--scopeIncludeRx", "("],
      ["--waitUntil", "load"],
    ]) {
      expect(nativeCrawl({ seeds, zimit_passthrough_args: bad })).toMatchObject({
        crawl: undefined,
        faults: [expect.anything()],
      });
    }
  });
});

test("tool options demand of each other what they need", () => {
  const faults = (options: Record<string, unknown>) =>
    (toolOptionsSchema.safeParse(options).error?.issues ?? []).map(({ path }) => path.join("."));
  expect(faults({})).toEqual([]);
  expect(faults({ enable_adaptive_workers: true })).toEqual(["enable_adaptive_workers"]);
  expect(faults({ enable_vpn_rotation: true, enable_monitoring: true })).toEqual(["enable_vpn_rotation"]);
  expect(faults({ enable_vpn_rotation: true, enable_monitoring: true, vpn_connect_command: " " })).toEqual([
    "enable_vpn_rotation",
  ]);
  expect(faults({ enable_vpn_rotation: true, enable_monitoring: true, vpn_connect_command: "vpn up" })).toEqual([]);
  expect(faults({ min_workers: 3, initial_workers: 2 })).toEqual(["min_workers"]);
  expect(faults({ initial_workers: "2" })).toEqual(["initial_workers"]);
});
