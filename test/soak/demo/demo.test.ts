import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../local/ports.ts";

/** Half a minute on two free cores; a busy machine takes its time. */
const PATIENCE_MS = 400_000;
const ROOT = join(import.meta.dirname, "../../..");

let folder: string;
let sitePort: number;
beforeAll(async () => {
  // with a space in its path, as home folders have them
  folder = await mkdtemp(join(tmpdir(), "strandline demo "));
  sitePort = await freePort();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function runDemo(): Promise<{ code: number; output: string }> {
  const env = {
    ...process.env,
    STRANDLINE_HOME: join(folder, "state"),
    PORT: "0",
    DEMO_SITE_PORT: String(sitePort),
    NO_COLOR: "1",
  };
  return new Promise((ended) => {
    execFile(
      process.execPath,
      ["demo/demo.ts", "--exit"],
      { cwd: ROOT, env, timeout: PATIENCE_MS },
      (error, out, err) => {
        ended({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, output: out + err });
      },
    );
  });
}

test(
  "the demonstration crawls its handbook, archives it, answers its questions, and ends with 0",
  async () => {
    const { code, output } = await runDemo();
    expect(output).not.toContain("FAULT");
    expect([code, output]).toEqual([0, expect.stringContaining("Everything held")]);
    // one question shares no word with any page, and is answered all the same
    expect(output).toMatch(/electricity outage\?[\s\S]*\/operations\/power-loss\.html[\s\S]*No page holds a word/);
    expect(output).toContain("ROBOTS_DENIED: /drafts/");
    expect(output).toContain("HTTP_404: /guide/upgrading.html");
    const warc = /zcat < '?(.+?\.warc\.gz%\.data)'? \|/.exec(output)?.[1] ?? "";
    expect(gunzipSync(await readFile(resolve(ROOT, warc))).toString("latin1")).toMatch(
      /^WARC\/1\.1\r\n[\s\S]*WARC-Type: warcinfo/,
    );
  },
  PATIENCE_MS,
);

test(
  "a second demonstration is a recrawl: pages that did not change are not sent again, and all is found as before",
  async () => {
    const { code, output } = await runDemo();
    expect([code, output]).toEqual([0, expect.stringContaining("Everything held")]);
    expect(Number(/(\d+) of them unchanged/.exec(output)?.[1] ?? 0)).toBeGreaterThan(40);
  },
  PATIENCE_MS,
);
