import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiSetup, setUpApi } from "../functions/api-setup.ts";
import { type ApiServer, startApiServer } from "./api-server.ts";

const LAUNCHER = join(import.meta.dirname, "../../../cli/strandline.js");

let setup: ApiSetup;
let server: ApiServer;
let folder: string;
beforeAll(async () => {
  setup = await setUpApi({ EMBEDDER__PROVIDER: "none" });
  server = await startApiServer();
  folder = mkdtempSync(join(tmpdir(), "strandline cli "));
  mkdirSync(join(folder, ".strandline"));
  const credentials = { api_url: server.url, api_key: setup.keys.admin };
  writeFileSync(join(folder, ".strandline/credentials.json"), JSON.stringify(credentials));
});
afterAll(async () => {
  await server.close();
  await setup.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  code: number;
  out: string;
  err: string;
}

/** The machine's own Node, which may be older than ours, as a shell would find it. */
const shellPath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((entry) => !entry.includes("node_modules"))
  .join(delimiter);

function run(args: string[], { file = LAUNCHER, cwd = folder, env = {} }: RunOptions = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      file,
      args,
      { cwd, env: { PATH: shellPath, HOME: folder, ...env }, timeout: 120_000 },
      (_, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

interface RunOptions {
  file?: string;
  cwd?: string;
  env?: Record<string, string>;
}

it("starts with whatever Node the shell finds, through a link, from a folder with a space", async () => {
  const link = join(folder, "the strandline");
  symlinkSync(LAUNCHER, link);
  const { code, out } = await run(["--help"], { file: link });
  expect(code).toBe(0);
  for (const command of ["start", "demo", "crawl", "search", "jobs", "keys"]) expect(out).toContain(command);
});

it("takes address and key from the nearest credentials file", async () => {
  const deep = join(folder, "some/where");
  mkdirSync(deep, { recursive: true });
  expect(await run(["jobs"], { cwd: deep })).toMatchObject({ code: 0, out: expect.stringContaining("No jobs yet") });
});

it("crawls, shows the job, cancels it, and tells that it cannot be cancelled twice", async () => {
  const crawl = await run(["crawl", "https://a.example/one", "https://a.example/two"]);
  expect(crawl).toMatchObject({ code: 0, err: "" });
  const jobId = /Job ([0-9a-f-]{36}) started/.exec(crawl.out)?.[1] ?? "";

  const list = await run(["jobs", "--status", "pending"]);
  expect(list.out).toContain(jobId);
  for (const line of list.out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);

  const shown = await run(["jobs", "show", jobId]);
  expect(shown.out).toContain("https://a.example/one");
  expect(JSON.parse((await run(["jobs", "show", jobId, "--json"])).out)).toMatchObject({
    job_id: jobId,
    counts: { open: 2 },
  });

  expect(await run(["jobs", "cancel", jobId])).toMatchObject({ code: 0 });
  await setup.database.sql`update jobs set status = 'cancelled' where id = ${jobId}`;
  expect(await run(["jobs", "cancel", jobId])).toMatchObject({ code: 1, err: expect.stringContaining("CONFLICT") });
});

it("follows a crawl until it has ended: plain lines into a pipe, and exit code 1 where it failed", async () => {
  const running = run(["crawl", "https://watch.example/", "--depth", "1", "--watch"]);
  await expect.poll(() => setup.database.sql`select id from jobs where kind = 'site'`).toHaveLength(1);
  await setup.database
    .sql`update jobs set status = 'failed', stop_reason = 'error', error = 'It is down' where kind = 'site'`;
  const { code, out } = await running;
  expect(code).toBe(1);
  expect(out).toContain("failed: It is down");
  expect(out).not.toContain("\u001b");
});

it("crawls a site by scope, strategy and patterns, reads its results, and tries again what failed", async () => {
  const options = [
    "--scope",
    "prefix",
    "--strategy",
    "best_first",
    "--keywords",
    "tide, wave",
    "--include",
    "a",
    "--include",
    "b",
  ];
  const crawl = await run(["crawl", "https://site.example/docs/", ...options, "--timeout", "60", "--render", "auto"]);
  expect(crawl).toMatchObject({ code: 0, err: "" });
  const jobId = /Job ([0-9a-f-]{36}) started/.exec(crawl.out)?.[1] ?? "";
  const [job] = await setup.database.sql`select kind, settings from jobs where id = ${jobId}`;
  expect(job).toMatchObject({
    kind: "site",
    settings: { strategy: "best_first", keywords: ["tide", "wave"], scope: { mode: "prefix", include: ["a", "b"] } },
  });

  await setup.database
    .sql`update frontier set state = 'failed', task_id = null, lease_until = null, error_code = 'DNS_FAILED', result_seq = 1 where job_id = ${jobId}`;
  await setup.database
    .sql`update jobs set status = 'failed', stop_reason = 'error', failed = 1, open_urls = 0, results = 1,
    completed_at = now() where id = ${jobId}`;
  const results = await run(["jobs", "results", jobId, "--fields", "title"]);
  expect(results).toMatchObject({ code: 0, err: "" });
  expect(
    results.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([{ url: "https://site.example/docs/" }]);
  const wrong = await run(["jobs", "results", jobId, "--fields", "colour"]);
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("colour") });
  expect(wrong.err).toContain("VALIDATION_ERROR");
  expect(await run(["jobs", "retry", jobId])).toMatchObject({ code: 0, out: expect.stringContaining("tries again") });
});

it("lists what a discovery found, one URL a line", async () => {
  const running = run(["discover", "shop.example", "--max-urls", "5"]);
  await expect.poll(() => setup.database.sql`select 1 from discovery_jobs`).toHaveLength(1);
  await setup.database
    .sql`update discovery_jobs set status = 'failed', error = 'No sitemap was found', completed_at = now()`;
  expect(await running).toMatchObject({ code: 1, err: expect.stringContaining("No sitemap was found") });
});

it("says that a discovery found nothing, and why, beside its output", async () => {
  const running = run(["discover", "empty.example", "--query", "tides"]);
  const jobs = () => setup.database.sql`select 1 from discovery_jobs where domain like '%empty.example'`;
  await expect.poll(jobs, { timeout: 20_000 }).toHaveLength(1);
  const notes = [{ source: "https://empty.example/", code: "NO_SITEMAP", message: "It has none", count: null }];
  await setup.database.sql`
    update discovery_jobs set status = 'completed', completed_at = now(), notes = ${setup.database.sql.json(notes)}
    where domain like '%empty.example'`;
  const { code, out, err } = await running;
  expect({ code, out }).toEqual({ code: 0, out: "" });
  expect(err).toContain("No URL was found");
  expect(err).toContain("NO_SITEMAP  https://empty.example/: It has none");
  expect(err).toContain("--query");

  const blocked = await run(["discover", "10.0.0.1:3000"]);
  expect(blocked).toMatchObject({ code: 1, err: expect.stringContaining("ACCESS__ALLOW_HOSTS=10.0.0.1:3000") });
});

it("ends quietly where whoever reads along has left, as `| head` does", async () => {
  const child = execFile(LAUNCHER, ["jobs", "--json"], { cwd: folder, env: { PATH: shellPath, HOME: folder } });
  let err = "";
  child.stderr?.on("data", (text: string) => {
    err += text;
  });
  child.stdout?.destroy();
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect({ code, err }).toEqual({ code: 0, err: "" });
});

it("tells who left the scheme out to write the whole address", async () => {
  expect(await run(["crawl", "example.org"])).toMatchObject({ code: 1, err: expect.stringContaining("https://") });
});

it("searches", async () => {
  const answer = await run(["search", "lighthouse", "keeper", "--mode", "keyword", "--json"]);
  expect(answer).toMatchObject({ code: 0, err: "" });
  expect(JSON.parse(answer.out)).toMatchObject({ results: [], latency_ms: expect.any(Number) });
});

it("makes a key that works, lists it without showing it, and revokes it", async () => {
  const made = await run(["keys", "create", "my reader", "--scope", "read", "--rpm", "99"]);
  expect(made.code).toBe(0);
  const [key = ""] = made.out.split("\n");
  expect(key).toMatch(/^sl_/);
  const env = { STRANDLINE_URL: server.url, STRANDLINE_API_KEY: key };
  expect((await run(["jobs"], { env })).code).toBe(0);

  const list = await run(["keys", "list"]);
  expect(list.out).toContain("my reader");
  expect(list.out).not.toContain(key);

  const keyId = /[0-9a-f-]{36}/.exec(made.out.split("\n").slice(1).join("\n"))?.[0] ?? "";
  expect((await run(["keys", "revoke", keyId])).code).toBe(0);
  expect(await run(["jobs"], { env })).toMatchObject({ code: 4, err: expect.stringContaining("AUTH_REQUIRED") });
});

it("says how to allow a host that is blocked", async () => {
  const { code, err } = await run(["crawl", "http://127.0.0.1:8080/"]);
  expect(code).toBe(1);
  expect(err).toContain("URL_BLOCKED");
  expect(err).toContain("ACCESS__ALLOW_HOSTS=127.0.0.1:8080");
});

it("says that a key lacks a scope", async () => {
  const { code, err } = await run(["crawl", "https://a.example/", "--url", server.url, "--api-key", setup.keys.read]);
  expect(code).toBe(4);
  expect(err).toContain("FORBIDDEN");
});

it("says that the API is not running, and how to start it", async () => {
  const gone = await startApiServer();
  await gone.close();
  const { code, err } = await run(["jobs", "--url", gone.url, "--api-key", "sl_x"]);
  expect(code).toBe(3);
  expect(err).toContain("ECONNREFUSED");
  expect(err).toContain("npm start");
});

it("says that no key was found", async () => {
  const { code, err } = await run(["jobs"], { env: { STRANDLINE_HOME: join(folder, "nowhere") } });
  expect(code).toBe(4);
  expect(err).toContain("STRANDLINE_API_KEY");
});

it.each([
  ["no command", []],
  ["an unknown command", ["fly"]],
  ["a missing argument", ["crawl"]],
  ["an option that is no number", ["crawl", "https://a.example/", "--depth", "deep"]],
  ["an unknown mode", ["search", "x", "--mode", "magic"]],
])("ends with 2 for wrong usage: %s", async (_, args) => {
  expect(await run(args)).toMatchObject({ code: 2, out: "" });
});
