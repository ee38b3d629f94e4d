/** Commands that take the archive's lists away as a release, and judge its ranking. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiClient, createApiClient } from "../../../cli/api-client.ts";
import { releaseDataset, verifyDataset } from "../../../cli/commands/dataset.ts";
import { judgeRanking } from "../../../cli/commands/golden.ts";
import { createTerminal, type Terminal } from "../../../cli/terminal.ts";
import { computeChanges } from "../../../shared/archive/changes/compute-changes.ts";
import { indexSnapshots } from "../../../shared/archive/search/index-snapshots.ts";
import { type ArchiveSetup, archiveSetup } from "../archive/archive-setup.ts";
import { http, record } from "../archive/warc-records.ts";
import { type ApiServer, startApiServer } from "./api-server.ts";

let setup: ArchiveSetup;
let server: ApiServer;
let folder: string;
let api: ApiClient;
let said: string;
const terminal: Terminal = createTerminal({ write: (text: string) => (said += text) }, {});

const page = (name: string, text: string, day: number) =>
  record(
    http(
      `<html lang=en><title>${name}</title><h1>${name}</h1><p>${text}</p>`,
      "Content-Type: text/html; charset=utf-8\r\n",
    ),
    { url: `http://clinic.test/${name}`, date: `2026-01-0${day}T10:00:00Z` },
  );

beforeAll(async () => {
  setup = await archiveSetup();
  server = await startApiServer();
  folder = mkdtempSync(join(tmpdir(), "strandline releases "));
  api = createApiClient({ url: server.url, apiKey: "" });
  await setup.importRecords([
    page("Salt", "Eat less salt.", 1),
    page("Salt", "Eat less salt, or none.", 2),
    page("Émile", "Do not eat shark: salt \u2028 it.", 3),
  ]);
  await computeChanges(setup.dependencies, () => true);
  await indexSnapshots(setup.dependencies, () => true);
});
afterAll(async () => {
  await server.close();
  await setup.close();
  rmSync(folder, { recursive: true, force: true });
});

const told = async (work: Promise<number>): Promise<{ code: number; out: string }> => {
  said = "";
  const code = await work;
  return { code, out: said };
};
const rowsIn = (file: string): Record<string, unknown>[] =>
  gunzipSync(readFileSync(file))
    .toString()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

it("releases the lists, page by page, with a manifest and checksums", async () => {
  const output = join(folder, "one");
  // as where the archive has more than one page of a list
  const paged = (async (method: "GET", path: string, body: unknown, as: "json" | "text") => {
    const answer = await api<Record<string, unknown>>(method, path, body, as);
    return path === "/api/exports" ? { ...answer, maxLimit: 2 } : answer;
  }) as ApiClient;
  const { code, out } = await told(releaseDataset(paged, terminal, { output }));
  expect([code, out.split("\n").map((line) => line.split(",")[0])]).toEqual([
    0,
    ["snapshots.jsonl.gz: 3 rows", "changes.jsonl.gz: 3 rows", ""],
  ]);
  const snapshots = rowsIn(join(output, "snapshots.jsonl.gz"));
  expect(snapshots.map(({ title }) => title)).toEqual(["Salt", "Salt", "Émile"]);
  const manifest = JSON.parse(readFileSync(join(output, "manifest.json"), "utf8"));
  expect(manifest).toMatchObject({ source: null, lists: { snapshots: { rows: 3 }, changes: { rows: 3 } } });
  expect(manifest.lists.snapshots.columns.map(({ name }: { name: string }) => name)).toEqual(
    Object.keys(snapshots[0] ?? {}),
  );
  expect(await told(verifyDataset(terminal, output))).toEqual({ code: 0, out: `${output} is as it was released\n` });
});

it("releases what is asked for, and never into what is there", async () => {
  const output = join(folder, "days");
  const days = { output, from: "2026-01-02", to: "2026-01-02", source: "clinic.test" };
  expect((await told(releaseDataset(api, terminal, days))).out).toContain("snapshots.jsonl.gz: 1 rows");
  await expect(releaseDataset(api, terminal, days)).rejects.toThrow("is not empty");
});

it("tells of each file of a release that is not what it was", async () => {
  const output = join(folder, "altered");
  await releaseDataset(api, terminal, { output });
  appendFileSync(join(output, "changes.jsonl.gz"), "x");
  rmSync(join(output, "manifest.json"));
  expect(await told(verifyDataset(terminal, output))).toEqual({
    code: 1,
    out: "changes.jsonl.gz is gone, or is not what was released\nmanifest.json is gone, or is not what was released\n",
  });
  rmSync(join(output, "SHA256SUMS"));
  await expect(verifyDataset(terminal, output)).rejects.toThrow("no release");
});

it("judges the ranking by golden queries: where each page is found, and how good that is", async () => {
  const file = join(folder, "golden.yaml");
  const entry = (q: string, url: string, more = "") => `  - {q: ${q}, expect: [${url}]${more}}\n`;
  writeFileSync(
    file,
    `queries:\n${entry("salt", "http://clinic.test/Salt")}${entry("shark", "http://clinic.test/%C3%89mile")}`,
  );
  const good = await told(judgeRanking(api, terminal, { file }));
  expect(good.code).toBe(0);
  expect(good.out).toContain("2 of 2 found; mean reciprocal rank 1.000");
  appendFileSync(file, entry("salt", "http://clinic.test/%C3%89mile", ", within: 1"));
  const bad = await told(judgeRanking(api, terminal, { file, ranking: "v1", json: true }));
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.out)).toMatchObject({ found: 2, of: 3, judged: [{ rank: 1 }, { rank: 1 }, { rank: null }] });
  writeFileSync(file, "queries: [{q: salt}]\n");
  await expect(judgeRanking(api, terminal, { file })).rejects.toThrow("queries.0.expect");
});

it("releases nothing where there is nothing, and says of what there is something", async () => {
  const output = join(folder, "nothing");
  await expect(releaseDataset(api, terminal, { output, source: "nowhere" })).rejects.toMatchObject({
    exitCode: 1,
    message: "The archive has nothing of the source nowhere",
    hint: "It has: clinic.test",
  });
  await expect(
    releaseDataset(api, terminal, { output, source: "clinic.test", from: "2031-01-01" }),
  ).rejects.toMatchObject({
    exitCode: 1,
    message: "The archive has nothing of the source clinic.test of these days",
    hint: "Look at --from and --to",
  });
  expect(existsSync(output)).toBe(false);
});
