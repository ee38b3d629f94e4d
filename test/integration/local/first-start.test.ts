/** A first start that is killed while the database cluster is made is made good by the next. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { startPostgres } from "../../../local/postgres/postgres.ts";
import { testFolder } from "../../services/runtime.ts";

const POSTGRES = join(import.meta.dirname, "../../../local/postgres/postgres.ts");

/** Ends at once with all that it has started, so many milliseconds after the first file of a cluster is there. */
async function killedStart(directory: string, ms: number): Promise<void> {
  const script = `await (await import(${JSON.stringify(POSTGRES)})).startPostgres({ directory: ${JSON.stringify(directory)} })`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { detached: true, stdio: "ignore" });
  await expect.poll(async () => (await clusterFiles(directory)).includes("PG_VERSION"), { interval: 2 }).toBe(true);
  await delay(ms);
  process.kill(-(child.pid ?? Number.NaN), "SIGKILL");
  await once(child, "exit");
}

/** Below the folder, by their names. */
async function clusterFiles(directory: string): Promise<string[]> {
  if (!existsSync(directory)) return [];
  return (await readdir(directory, { recursive: true })).map((path) => path.split("/").at(-1) ?? "");
}

it("is a first start again after each that was killed", async () => {
  const directory = join(await testFolder(), "postgres");
  for (const ms of [0, 30, 200]) await killedStart(directory, ms);
  const server = await startPostgres({ directory, surviveMachineCrash: false });
  await server.stop();
  expect((await readdir(directory)).sort()).toEqual(["data", "password", "postgres.log"]);
});
