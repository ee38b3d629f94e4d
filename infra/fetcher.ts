/** Makes the folder of which the image of fetch as a service is built: its one file and its Dockerfile. */
import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { NODE_MODULE } from "./bundle.ts";

const REPOSITORY = join(import.meta.dirname, "..");

/** @returns the folder */
export async function buildFetcher(directory: string): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await build({
    absWorkingDir: REPOSITORY,
    // unlike the function it asks the task for its credentials, so that nothing of the SDK is left out
    entryPoints: ["functions/fetch/service.ts"],
    outfile: join(directory, "service.mjs"),
    ...NODE_MODULE,
  });
  await cp(join(REPOSITORY, "tasks", "fetcher", "Dockerfile"), join(directory, "Dockerfile"));
  return directory;
}
