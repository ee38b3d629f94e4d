/**
 * What a million pages cost on AWS at polite rates, and what a month costs in which nobody asks for anything. Sites on
 * loopback are crawled at the pace that a deployment has by itself, one request a second and host, in real time: what
 * is billed is mostly waiting. All is counted from what the runtime serves; docs/cost.md says what is assumed.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Instance, startInstance } from "../../test/services/instance.ts";
import type { Benchmark } from "../bench.ts";
import { type Bill, billOfIdleMonth, billOfPages, billOnFargate, sum, total } from "../economy/bill.ts";
import { type Consumption, crawlPolitely, measured, type Setting } from "../economy/crawl-politely.ts";
import { standingParts } from "../economy/standing-parts.ts";

/**
 * Up to two minutes each: what begins and ends a job is then part of each figure, and makes it a little high. A hundred
 * hosts are asked once in two seconds: at one a second the crawl and its sites would want more than two processors.
 */
const SETTINGS: Record<string, Setting> = {
  "1_host": { hosts: 1, pagesPerHost: 90 },
  "10_hosts": { hosts: 10, pagesPerHost: 60 },
  "100_hosts": { hosts: 100, pagesPerHost: 40, crawlDelay: 2 },
  crawl_delay_10: { hosts: 10, pagesPerHost: 9, crawlDelay: 10 },
};
/** Loads modules, on pages that are not counted. */
const WARM_UP: Setting = { hosts: 4, pagesPerHost: 6 };
/** Within it all schedules fire but the one of every six hours. */
const IDLE_S = 300;

export const run: Benchmark = async ({ scale, only }) => {
  const parts = await standingParts();
  // search by keywords alone, as a deployment without a vector store has it
  const instance = await startInstance({ env: { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: "127.0.0.1" } });
  try {
    await crawlPolitely(instance, WARM_UP);
    const idle = await measured(instance, async () => {
      await delay(IDLE_S * 1000);
      return 0;
    });
    printIdle(idle);
    const month = billOfIdleMonth(parts, idle);
    const crawls: Record<string, Consumption> = {};
    for (const [name, setting] of Object.entries(SETTINGS).filter(([name]) => [undefined, name].includes(only))) {
      const pagesPerHost = Math.ceil(setting.pagesPerHost * scale);
      crawls[name] = await crawlAll(instance, { ...setting, pagesPerHost });
      printCrawl(name, crawls[name]);
    }
    const bills = Object.fromEntries(Object.entries(crawls).map(([name, crawl]) => [name, billOfPages(crawl, idle)]));
    for (const [name, crawl] of Object.entries(crawls)) {
      bills[`${name}_fargate`] = billOnFargate(bills[name] ?? {}, crawl, SETTINGS[name]?.hosts ?? 0);
    }
    printBills(bills, month);
    return {
      ...Object.fromEntries(Object.entries(bills).map(([name, bill]) => [`usd_per_million_${name}`, cents(bill)])),
      usd_idle_month: cents(month),
      ...(crawls["10_hosts"] && perThousand(crawls["10_hosts"])),
    };
  } finally {
    await instance.stop();
  }
};

/** @throws Error where pages are missing: the figures would be of another crawl */
async function crawlAll(instance: Instance, setting: Setting): Promise<Consumption> {
  const crawl = await crawlPolitely(instance, setting);
  const wanted = setting.hosts * setting.pagesPerHost;
  if (crawl.pages < wanted) throw new Error(`only ${crawl.pages} of ${wanted} pages were crawled`);
  return crawl;
}

const perThousand = ({ usage, pages }: Consumption) => ({
  puts_per_1000_pages: Math.round(((usage.calls["s3.PutObject"] ?? 0) * 1000) / pages),
  gb_seconds_per_1000_pages: Math.round(
    (sum(Object.values(usage.functions).map(({ gbSeconds }) => gbSeconds)) * 1000) / pages,
  ),
});

const cents = (bill: Bill): number => Math.round(total(bill) * 100) / 100;

function printCrawl(name: string, { pages, seconds, usage, postgresCpuMs, logBytes, databaseBytes }: Consumption) {
  const perPage = (count: number) => Math.round((count / pages) * 1000) / 1000;
  const lines = {
    ...Object.fromEntries(Object.entries(usage.calls).map(([call, count]) => [call, perPage(count)])),
    ...Object.fromEntries(
      Object.entries(usage.functions)
        .filter(([, { invocations }]) => invocations > 0)
        .flatMap(([fn, { invocations, gbSeconds }]) => [
          [`${fn}: invocations`, perPage(invocations)],
          [`${fn}: GB-seconds`, perPage(gbSeconds)],
        ]),
    ),
    "database: ms of a processor": perPage(postgresCpuMs),
    "database: bytes of its log": perPage(logBytes),
    "database: bytes kept": perPage(databaseBytes),
  };
  process.stdout.write(`\n${name}: ${pages} pages in ${Math.round(seconds)} s; of each page:\n`);
  console.table(lines);
}

function printIdle({ countedSeconds: seconds, usage }: Consumption): void {
  const perMinute = (count: number) => Math.round((count * 60_000) / seconds) / 1000;
  const used = Object.entries(usage.functions).filter(([, { invocations }]) => invocations > 0);
  const lines = {
    ...Object.fromEntries(
      used.map(([fn, { invocations, gbSeconds }]) => [
        fn,
        { invocations: perMinute(invocations), "GB-seconds": perMinute(gbSeconds) },
      ]),
    ),
    ...Object.fromEntries(Object.entries(usage.calls).map(([call, count]) => [call, { requests: perMinute(count) }])),
  };
  process.stdout.write(`\nwhile nobody asked for anything, each minute of ${Math.round(seconds)} s:\n`);
  console.table(lines);
}

function printBills(bills: Record<string, Bill>, month: Bill): void {
  const lines = Object.keys(Object.values(bills)[0] ?? {});
  const rounded = (usd: number | undefined) => Math.round((usd ?? 0) * 1000) / 1000;
  process.stdout.write("\nUSD for a million pages:\n");
  console.table(
    Object.fromEntries(
      [...lines.map((line) => [line, (bill: Bill) => bill[line]] as const), ["all", total] as const].map(
        ([line, of]) => [
          line,
          Object.fromEntries(Object.entries(bills).map(([name, bill]) => [name, rounded(of(bill))])),
        ],
      ),
    ),
  );
  process.stdout.write("\nUSD for an idle month:\n");
  console.table(
    Object.fromEntries([...Object.entries(month), ["all", total(month)] as const].map(([l, usd]) => [l, rounded(usd)])),
  );
}
