/**
 * An empty database cluster, made once for all runtimes of a test run that begin anew: making one takes as long as all
 * else of a start. As a global setup it names the folder for it; the first test that needs the cluster makes it.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../local/postgres/postgres.ts";

/** Names the folder; unset: every runtime makes a cluster of its own, as outside of tests. */
const FOLDER = "TEST_CLUSTER_TEMPLATE";

export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "strandline cluster "));
  // the workers of the tests inherit it
  process.env[FOLDER] = folder;
  return async () => await rm(folder, { recursive: true, force: true });
}

/** Gives a state folder that has no cluster a copy of the template, which a start takes for its own. */
export async function copyCluster(home: string): Promise<void> {
  const folder = process.env[FOLDER];
  const directory = join(home, "postgres");
  if (folder === undefined || existsSync(directory)) return;
  const template = join(folder, "template");
  if (!existsSync(template)) await makeTemplate(template);
  await cp(template, directory, { recursive: true });
}

/** Renamed into place, so that a cluster that is still being made is not taken for one. */
async function makeTemplate(template: string): Promise<void> {
  const partial = `${template}-${randomUUID()}`;
  const server = await startPostgres({ directory: partial, surviveMachineCrash: false });
  await server.stop();
  await rename(partial, template).catch(async (error: unknown) => {
    // another process was first
    await rm(partial, { recursive: true, force: true });
    if (!existsSync(template)) throw error;
  });
}
