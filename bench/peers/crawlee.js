/** Crawlee's CheerioCrawler on the same site: it parses and follows links, and archives nothing. Prints one JSON line. */
import { CheerioCrawler, Configuration, log } from "crawlee";

const [url] = process.argv.slice(2);
log.setLevel(log.LEVELS.ERROR);
const started = performance.now();
const before = process.cpuUsage();
let crawled = 0;
const crawler = new CheerioCrawler(
  {
    // no maxRequestsPerCrawl: with it, each enqueueLinks call sleeps for a second; the site ends by itself
    minConcurrency: 10,
    maxConcurrency: 50,
    async requestHandler({ enqueueLinks, $ }) {
      crawled += 1;
      $("title").text();
      await enqueueLinks({ strategy: "same-hostname" });
    },
  },
  new Configuration({ persistStorage: false, purgeOnStart: false }),
);
await crawler.run([url]);
const cpu = process.cpuUsage(before);
const seconds = (performance.now() - started) / 1000;
process.stdout.write(
  `${JSON.stringify({ crawled, seconds, cpu_ms_per_page: (cpu.user + cpu.system) / 1000 / crawled, pages_per_second: crawled / seconds })}\n`,
);
