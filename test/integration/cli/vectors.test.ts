/** The commands that see to vectors: models, chunk sizes, the comparison with documents; and llms.txt of a host. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { settleJob } from "../../../shared/crawl/jobs/lifecycle.ts";
import { embedTaskSchema } from "../../../shared/knowledge/embedding/embed-task.ts";
import { embedChunks } from "../../../shared/knowledge/embedding/embed-worker.ts";
import { openVectorSide } from "../../../shared/knowledge/search/vector-side.ts";
import { loadConfig } from "../../../shared/platform/config.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { type ApiSetup, setUpApi } from "../functions/api-setup.ts";
import { type ApiServer, startApiServer } from "./api-server.ts";

const LAUNCHER = join(import.meta.dirname, "../../../cli/strandline.js");

let setup: ApiSetup;
let server: ApiServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "strandline-cli-vectors-"));
  setup = await setUpApi({ EMBEDDER__PROVIDER: "static", VECTORS__SQLITE_PATH: join(folder, "vectors.sqlite") });
  server = await startApiServer();
  mkdirSync(join(folder, ".strandline"));
  const credentials = { api_url: server.url, api_key: setup.keys.admin };
  writeFileSync(join(folder, ".strandline/credentials.json"), JSON.stringify(credentials));
  writeFileSync(join(folder, "tides.md"), "# Tides\n\nHigh water comes twice a day to the harbour.\n");
});
afterAll(async () => {
  await server.close();
  await setup.close();
  rmSync(folder, { recursive: true, force: true });
});

function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(LAUNCHER, args, { cwd: folder, timeout: 120_000 }, (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

const json = async (...args: string[]) => JSON.parse((await run(...args, "--json")).out);

/** As the embed function does. */
async function embed(): Promise<void> {
  const vectorSide = await openVectorSide(loadConfig())();
  const log = createLogger({}, "error", () => {});
  for (const queue of ["embed-high", "embed-low"]) {
    for (const message of await setup.aws.receive(queue, 0)) {
      await embedChunks({ sql: setup.database.sql, vectorSide, settleJob, log }, embedTaskSchema.parse(message));
    }
  }
  await vectorSide?.vectors.close();
}

it("compares vectors with documents, and says what it found and repaired", async () => {
  expect(await run("upload", "tides.md")).toMatchObject({ code: 0 });
  await embed();
  const none = { orphaned_points: 0, lost_chunks: 0, waiting_chunks: 0 };
  expect(await json("reconcile", "--dry-run")).toMatchObject(none);
  const vectorSide = await openVectorSide(loadConfig())();
  await vectorSide?.vectors.drop();
  await vectorSide?.vectors.close();
  const dry = await run("reconcile", "--dry-run");
  expect(dry).toMatchObject({ code: 0, out: expect.stringContaining("1 chunks without their vector\n") });
  const detached = await run("reconcile", "--detach");
  expect(detached.out).toContain("1 chunks without their vector, asked for again; 1 wait");
  await embed();
  const { out } = await run("reconcile");
  expect(out).toContain("0 points without a chunk, removed");
  expect(await json("reconcile")).toMatchObject(none);
  expect(await run("reconcile", "--cursor", "none")).toMatchObject({
    code: 2,
    err: expect.stringContaining("cursor"),
  });
});

it("tells which model answers, pauses a change of it, goes on with it, and back", async () => {
  const { sql } = setup.database;
  await sql`delete from embedding_models`;
  expect(await run("models")).toMatchObject({ code: 0, out: "" });
  const of = (model: string, state: string) =>
    sql`insert into embedding_models (model, dimension, state) values (${model}, 256, ${state})`;
  await of("answers", "serving");
  expect(await run("models", "pause")).toMatchObject({ code: 1, err: expect.stringContaining("No change") });
  await of("comes", "coming");
  await of("left", "leaving");
  const states = (out: string) =>
    out
      .trim()
      .split("\n")
      .map((line) => [line.split(/\s+/)[0], line.split(/\s+/).at(-2)]);
  expect(states((await run("models", "pause")).out)).toContainEqual(["paused", "comes"]);
  expect(states((await run("models", "resume")).out)).toContainEqual(["coming", "comes"]);
  expect(states((await run("models", "back", "left", "256")).out)).toEqual([
    ["serving", "left"],
    ["paused", "answers"],
    ["leaving", "comes"],
  ]);
  expect(await run("models", "back", "nobody's", "256")).toMatchObject({ code: 1 });
  expect(await json("models")).toMatchObject({ items: [{ model: "left", state: "serving" }, {}, {}] });
  await sql`delete from embedding_models`;
});

it("cuts documents to another size, tells how far that is, pauses it, and gives it up", async () => {
  expect((await run("chunk-size")).out).toMatch(
    /^serving .* as crawled: 1 documents, 0 to cut, 1 chunks, 0 waiting\n$/,
  );
  expect(await run("chunk-size", "pause")).toMatchObject({ code: 1, err: expect.stringContaining("No change") });
  expect((await run("chunk-size", "use", "128")).out).toContain("128 tokens: 0 documents, 1 to cut");
  expect((await run("chunk-size", "pause")).out).toContain("paused");
  expect((await run("chunk-size", "resume")).out).toContain("coming");
  expect(await json("chunk-size", "use", "crawled")).toMatchObject({ items: [{ chunk_size: null, state: "serving" }] });
  expect(await run("chunk-size", "use", "many")).toMatchObject({ err: expect.stringContaining("whole number") });
  expect(await run("chunk-size", "use", "8193")).toMatchObject({ code: 2, err: expect.stringContaining("8192") });
});

it("writes what was crawled of a host as llms.txt, with the texts where they are asked for", async () => {
  const pages = { "/": "The harbour", "/guide/tides": "Of tides" };
  for (const [path, title] of Object.entries(pages)) {
    const response = await fetch(`${server.url}/api/v1/documents`, {
      method: "POST",
      headers: { authorization: `Bearer ${setup.keys.write}`, "content-type": "application/json" },
      body: JSON.stringify({ url: `https://docs.example${path}`, title, content: `${title} are told of here.` }),
    });
    expect(response.ok).toBe(true);
  }
  const { code, out } = await run("documents", "llms", "docs.example");
  expect(code).toBe(0);
  expect(out).toMatch(/^# The harbour\n/);
  expect(out).toContain("[Of tides](https://docs.example/guide/tides)");
  expect(out).not.toContain("told of here");
  expect((await run("documents", "llms", "docs.example", "--full")).out).toContain("Of tides are told of here.");
  expect(await run("documents", "llms", "nothing.example")).toMatchObject({
    code: 1,
    err: expect.stringContaining("crawl it first"),
  });
});
