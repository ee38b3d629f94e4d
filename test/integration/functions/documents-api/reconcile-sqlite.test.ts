import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, it } from "vitest";
import { type ApiSetup, setUpApi } from "../api-setup.ts";
import { isRebuilt } from "./rebuilt-store.ts";

let setup: ApiSetup;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "strandline-reconcile-"));
  setup = await setUpApi({ VECTORS__SQLITE_PATH: join(directory, "vectors.sqlite"), EMBEDDER__PROVIDER: "static" });
});
afterAll(async () => {
  await setup.close();
  await rm(directory, { recursive: true, force: true });
});

it("one request has the vectors of a deleted file made again", () =>
  isRebuilt(setup, async () => {
    for (const file of await readdir(directory)) await rm(join(directory, file));
  }));
