import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Bundle, bundleFunctions } from "../../infra/bundle.ts";
import { TOPOLOGY } from "../../infra/topology.ts";

/** Of the design: 1.5 MB each. */
const MAX_BUNDLE_BYTES = 1_500_000;

let directory: string;
beforeAll(async () => {
  // outside of the repository, where no node_modules is found: as on Lambda
  directory = await mkdtemp(join(tmpdir(), "bundles-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

it.each(TOPOLOGY.functions.map(({ name }) => name))(
  "the bundle of %s loads with nothing around it, and is small",
  async (name) => {
    const bundle = (await bundleFunctions(join(directory, name), [name])).get(name) as Bundle;
    expect(bundle.bytes).toBeLessThanOrEqual(MAX_BUNDLE_BYTES);
    const url = pathToFileURL(join(bundle.directory, "index.mjs")).href;
    const script = `const { handler } = await import(${JSON.stringify(url)}); console.log(typeof handler);`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
      cwd: directory,
      env: { PATH: process.env["PATH"] },
    });
    expect(stdout.trim()).toBe("function");
  },
);
