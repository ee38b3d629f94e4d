/** Uses what was deployed as its users would, and says of each part whether it held. */

import { createHmac } from "node:crypto";
import { type Answer, Api, expect, reach, send, until, warcOf } from "./deployed.ts";
import { aws } from "./emulator.ts";
import type { Deployed, Workshop } from "./machine.ts";
import { startSites } from "./sites.ts";

/** Pages of the chain: more than the rule about recursive loops lets pass. */
const CHAIN = 24;
const POLITENESS = { rate_limit_rps: 20 };

export interface CheckOptions {
  deployment: string;
  replayUrl: string;
  /** By their names; all where it is left out. */
  parts?: ReadonlySet<string>;
}

/** @returns how many parts failed */
export async function check(workshop: Workshop, deployed: Deployed, options: CheckOptions): Promise<number> {
  const api = new Api(deployed);
  await using sites = await startSites(CHAIN);
  let failures = 0;
  const part = async (name: string, work: () => Promise<string>): Promise<void> => {
    if (options.parts?.has(name) === false) return;
    const from = performance.now();
    const [result, told] = await work().then(
      (seen) => ["ok  ", seen] as const,
      (error: Error) => ["FAIL", `${error.message}${error.cause ? ` (${error.cause})` : ""}`] as const,
    );
    if (result === "FAIL") failures++;
    const seconds = ((performance.now() - from) / 1000).toFixed(1).padStart(6);
    process.stdout.write(`${name.padEnd(16)} ${result} ${seconds} s  ${told}\n`);
  };

  const limits = { max_depth: CHAIN, max_pages: CHAIN, config: POLITENESS };
  const chain = await api.json("POST", "/api/v1/crawl/deep", { url: sites.chain, ...limits });
  let crawl = "";
  let document = "";

  await part("ready", async () => JSON.stringify(await api.json("GET", "/api/v1/health/ready")));
  await part("websocket", async () => {
    const { type, data } = await api.listen(chain.job_id);
    return `first message: ${type}, ${data.counts.crawled} pages`;
  });
  await part("crawl", async () => {
    const wanted = { url: sites.handbook, max_depth: 2, max_pages: 20, config: POLITENESS };
    crawl = (await api.json("POST", "/api/v1/crawl/deep", wanted)).job_id;
    const { status, counts } = await api.finished(crawl);
    expect(status === "completed" && counts.crawled === 20, `${status}, ${counts.crawled} of 20 pages`);
    return `${counts.documents} documents, ${counts.chunks} chunks`;
  });
  await part("search", async () => {
    const { results } = await api.json("POST", "/api/v1/search", { query: "what a capture is", limit: 3 });
    expect(results.length > 0, "no hit");
    return results.map(({ url }: Answer) => url).join(" ");
  });
  await part("results", async () => {
    const path = `/jobs/${crawl}/results?limit=10&include=title,content,markdown`;
    const { pages } = await api.json("GET", path);
    // robots.txt forbids one page, which is a result without an answer
    const answered = pages.filter(({ status_code }: Answer) => status_code > 0);
    expect(answered.length >= 8, `${answered.length} of 10 pages were answered`);
    expect(
      answered.every(({ content }: Answer) => content?.length > 0),
      "a page came without its content",
    );
    return `${pages.length} pages with their content, read from the archive`;
  });
  await part("stream", async () => {
    const wanted = { seed_urls: [sites.handbook], max_pages: 5, max_depth: 1, config: POLITENESS };
    const text = await api.text("POST", "/spider/crawl?result_mode=stream&include=title", wanted);
    const types = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).type);
    expect(types.join() === "page,page,page,page,page,stats", types.join());
    return "five pages, then the stats";
  });
  await part("extract", async () => {
    const urls = [`${sites.handbook}faq.html`, `${sites.handbook}nowhere`];
    const { results } = await api.json("POST", "/extract/batch", { urls, config: POLITENESS });
    const statuses = results.map(({ status }: Answer) => status).join();
    expect(statuses === "success,failed", JSON.stringify(results).slice(0, 300));
    return `"${results[0].metadata.title}", and a 404 told as such`;
  });
  await part("events", async () => {
    const text = await api.text("GET", `/api/v1/crawl/${crawl}/stream`, undefined, { accept: "text/event-stream" });
    expect(/^event: completed$/m.test(text), `no last event in ${text.slice(0, 200)}`);
    return "the last one is completed";
  });
  await part("discover", async () => {
    const { job_id } = await api.json("POST", "/api/v1/discover", { domain: sites.host });
    const ended = await until("the discovery ends", 120, async () => {
      const job = await api.json("GET", `/api/v1/discover/${job_id}`);
      return ["completed", "failed"].includes(job.status) ? job : undefined;
    });
    expect(ended.status === "completed" && ended.urls_found > 0, JSON.stringify(ended).slice(0, 300));
    return `${ended.urls_found} URLs`;
  });
  await part("screenshot", async () => {
    const wanted = { url: sites.handbook, wait_seconds: 0 };
    const { download_url, width, height } = await api.json("POST", "/api/v1/screenshot", wanted);
    const picture = Buffer.from(await (await fetch(download_url)).arrayBuffer());
    expect(picture.subarray(1, 4).toString() === "PNG", `no picture: ${picture.subarray(0, 80)}`);
    return `${width} by ${height}`;
  });
  await part("render", async () => {
    // an address that nobody has asked for, since a page of the archive would be taken from there
    const wanted = { url: `${sites.scripted}${Date.now()}`, config: { ...POLITENESS, render: "always" } };
    const { job_id } = await api.json("POST", "/api/v1/crawl", wanted);
    const job = await api.finished(job_id);
    const { pages } = await api.json("GET", `/jobs/${job_id}/results?include=markdown`);
    const rendered = job.results?.items?.[0]?.rendered;
    expect(pages[0]?.markdown?.includes("Barnacles"), `without its script's text: ${JSON.stringify(pages[0] ?? job)}`);
    return `by ${rendered?.renderer}`;
  });
  await part("upload", async () => {
    const content = "# Lamp oil\n\nThe keeper stores colza oil for the lamp in forty copper tanks.";
    document = (await api.json("POST", "/api/v1/documents", { content })).document_id;
    const { results } = await api.json("POST", "/api/v1/search", { query: "colza oil" });
    expect(results[0]?.document_id === document, `found instead: ${JSON.stringify(results[0])?.slice(0, 200)}`);
    return "found at once";
  });
  await part("delete", async () => {
    await api.text("DELETE", `/api/v1/documents/${document}`);
    const { results } = await api.json("POST", "/api/v1/search", { query: "colza oil" });
    expect(!results.some(({ document_id }: Answer) => document_id === document), "it is still found");
    return "gone at once";
  });
  const kept = `http://kept.example/${Date.now()}`;
  let snapshot = 0;
  await part("import", async () => {
    const { bytes, sha256 } = warcOf(kept, `The harbour master notes ${kept} in his ledger every evening at dusk.`);
    const file = { filename: "kept.warc", bytes: bytes.length, sha256 };
    const { id, uploadUrl, headers } = await api.json("POST", "/api/admin/warcs", file);
    const put = await fetch(uploadUrl, { method: "PUT", body: new Uint8Array(bytes), headers });
    expect(put.ok, `the upload: ${put.status} ${await put.text()}`);
    const done = await until("the file is indexed", 120, async () => {
      const now = await api.json("GET", `/api/admin/warcs/${id}`);
      return ["completed", "failed"].includes(now.status) && now.openCaptures === 0 ? now : undefined;
    });
    expect(done.status === "completed" && done.captures === 1, JSON.stringify(done).slice(0, 300));
    return "one capture, by the bucket's own event";
  });
  await part("archive search", async () => {
    const found = await until("the import is found", 60, async () => {
      const { results } = await api.json("GET", `/api/search?q=${encodeURIComponent("harbour master ledger")}`);
      return results.find(({ originalUrl }: Answer) => originalUrl === kept);
    });
    snapshot = found.id;
    return `snapshot ${snapshot}`;
  });
  await part("raw snapshot", async () => {
    const html = await api.text("GET", `/api/snapshots/raw/${snapshot}`);
    expect(html.includes("harbour master"), html.slice(0, 200));
    return `${html.length} bytes as they were captured`;
  });
  await part("replay", async () => {
    const { status, text } = await reach(`${options.replayUrl}/20200517083000/${kept}`);
    expect(status === 200 && text.includes("harbour master"), `${status} ${text.slice(0, 300)}`);
    return "on an origin of its own";
  });
  await part("webhook", async () => {
    const webhook = { url: sites.receiver, events: ["crawl.completed"] };
    const { id, secret } = await api.json("POST", "/api/v1/webhooks", webhook);
    const { job_id } = await api.json("POST", "/api/v1/crawl", { urls: [sites.notice], config: POLITENESS });
    const { signature, body } = await until("the end of the job is told", 180, async () =>
      sites.deliveries.find((each) => JSON.parse(String(each.body)).data.job_id === job_id),
    );
    const [, time = "", given = ""] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? [];
    const made = createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex");
    expect(given === made, `signed with ${signature}`);
    await api.text("DELETE", `/api/v1/webhooks/${id}`);
    return "the end of a job, with a signature that verifies";
  });
  await part("schedule", async () => {
    const wanted = { name: `Ferry ${Date.now()}`, type: "page", url: sites.notice, schedule_cron: "* * * * *" };
    const { id } = await api.json("POST", "/api/v1/sources", wanted);
    const schedules = await aws(workshop, "source-schedules", options.deployment);
    expect(schedules.includes(id), `no schedule has the name of the source: ${schedules}`);
    const run = await until("the source is crawled by its schedule", 240, async () => {
      const { items } = await api.json("GET", `/api/v1/sources/${id}/runs`);
      return items.find(({ job_id }: Answer) => job_id !== null);
    });
    const { status } = await api.finished(run.job_id);
    expect(status === "completed", `its job is ${status}`);
    await api.text("DELETE", `/api/v1/sources/${id}`);
    await until("its schedule is gone", 60, async () =>
      (await aws(workshop, "source-schedules", options.deployment)).includes(id) ? undefined : true,
    );
    return "fired by its cron expression, and gone with its source";
  });
  let edition = "";
  await part("archive job", async () => {
    const code = `rehearsal-${Date.now()}`;
    const source = {
      code,
      name: "Rehearsal",
      nameTemplate: `${code}-{date:%H%M%S}`,
      seeds: [sites.notice],
      passthroughArgs: ["--pageLimit", "1"],
    };
    await api.json("POST", "/api/admin/sources", { sources: [source] });
    const run = async (): Promise<Answer> => {
      const { id } = await api.json("POST", "/api/admin/jobs", { source: code });
      return await until(`archive job ${id} is indexed`, 360, async () => {
        const job = await api.json("GET", `/api/admin/jobs/${id}`);
        return /indexed|failed/.test(job.status) ? job : undefined;
      });
    };
    const first = await run();
    expect(first.status === "indexed", JSON.stringify(first).slice(0, 300));
    sites.turn();
    const second = await run();
    expect(second.status === "indexed", JSON.stringify(second).slice(0, 300));
    edition = code;
    return "twice";
  });
  await part("changes", async () => {
    expect(edition !== "", "there are no two editions");
    const change = await until("the change is told", 180, async () => {
      const { results } = await api.json("GET", `/api/changes?source=${edition}`);
      return results.find(({ changeType }: Answer) => changeType === "updated");
    });
    return `${change.addedLines} lines added, ${change.removedLines} removed`;
  });
  await part("dead letter", async () => {
    await send(options.deployment, "fetch-normal", { jobId: crawl, wrong: true });
    const letters = await until("the message is recorded", 240, async () => {
      const { dead_letters } = await api.crawl(crawl);
      return dead_letters?.length > 0 ? dead_letters : undefined;
    });
    return `${letters[0].state}, ${letters[0].error_code}`;
  });
  await part("chain", async () => {
    const { status, counts } = await api.finished(chain.job_id);
    expect(status === "completed" && counts.crawled === CHAIN, `${status}, ${counts.crawled} of ${CHAIN} pages`);
    return `${CHAIN} pages, each known by the one before alone`;
  });
  if (deployed.iam) {
    await part("permissions", async () => {
      const refusals = await aws(workshop, "refusals");
      expect(refusals === "", refusals.slice(0, 3000));
      return "no function was refused anything";
    });
  }
  return failures;
}
