/**
 * `npm run pictures`: takes the pictures of docs/guide/console.md, of the Strandline that `npm run demo` runs here.
 * State is looked for where the demonstration keeps it (`STRANDLINE_HOME`).
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { launch } from "puppeteer-core";
import { chromiumBinary } from "../shared/render/chromium/binary.ts";

const FOLDER = join(import.meta.dirname, "../docs/guide/pictures");
const SCHEMES = ["light", "dark"] as const;
const VIEWPORT = { width: 1120, height: 700 };
/** What is shown when nothing has been asked for so long is whole. */
const QUIET_MS = 1000;

interface Running {
  url: string;
  apiKey: string;
}

async function running(home: string): Promise<Running> {
  const file = await readFile(join(home, "runtime.json"), "utf8").catch(() => "{}");
  const { url = "" } = JSON.parse(file) as { url?: string };
  const answer = await fetch(`${url}/health`).catch(() => undefined);
  if (answer === undefined) throw new Error(`No Strandline runs in ${home}: leave \`npm run demo\` running`);
  const { api_key } = JSON.parse(await readFile(join(home, "credentials.json"), "utf8")) as { api_key: string };
  return { url, apiKey: api_key };
}

interface Job {
  job_id: string;
  counts: { crawled: number };
  settings: { seeds?: string[] };
}

/** The job that crawled most, and the page that it began with. */
async function largestCrawl({ url, apiKey }: Running): Promise<{ id: string; seed: string }> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${url}/api/v1/jobs?status=completed`, { headers });
  const { items } = (await response.json()) as { items: Job[] };
  const [job] = items.toSorted((one, other) => other.counts.crawled - one.counts.crawled);
  const seed = job?.settings.seeds?.[0];
  if (job === undefined || seed === undefined) throw new Error("Nothing was crawled yet: let the demonstration end");
  return { id: job.job_id, seed };
}

const system = await running(process.env["STRANDLINE_HOME"] || ".strandline");
const crawl = await largestCrawl(system);
const views = {
  home: "#/",
  crawl: `#/crawl?url=${encodeURIComponent(crawl.seed)}`,
  job: `#/jobs/${crawl.id}`,
  search: `#/search?q=${encodeURIComponent("what is a revisit record")}`,
  archive: `#/archive?url=${encodeURIComponent(crawl.seed)}`,
  knowledge: "#/knowledge",
};
await mkdir(FOLDER, { recursive: true });
const { executable, env } = await chromiumBinary("");
const browser = await launch({
  executablePath: executable,
  headless: "shell",
  pipe: true,
  env: { ...process.env, ...env },
  args: ["--no-sandbox", "--disable-gpu"],
  defaultViewport: VIEWPORT,
});
for (const scheme of SCHEMES) {
  const page = await browser.newPage();
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(`${system.url}/console/`);
  await page.evaluate(`sessionStorage.setItem("strandline.key", ${JSON.stringify(system.apiKey)})`);
  for (const [name, address] of Object.entries(views)) {
    await page.goto(`${system.url}/console/${address}`);
    await page.reload();
    await page.waitForSelector("#view h1");
    await page.waitForNetworkIdle({ idleTime: QUIET_MS, concurrency: 2 });
    await page.screenshot({ path: join(FOLDER, `console-${name}-${scheme}.png`), optimizeForSpeed: false });
  }
  await page.close();
}
await browser.close();
process.stdout.write(`${Object.keys(views).length * SCHEMES.length} pictures are in ${FOLDER}\n`);
