/** A local runtime of a test's own, with the handlers of `test/fixtures/runtime`. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ApiGatewayManagementApiClient } from "@aws-sdk/client-apigatewaymanagementapi";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { onTestFinished } from "vitest";
import type { Topology } from "../../infra/topology/spec.ts";
import { credentialsIn } from "../../local/front/credentials.ts";
import { type Addresses, type Runtime, type RuntimeOptions, startRuntime } from "../../local/runtime.ts";
import { type FUNCTIONS, topologyOf } from "../fixtures/runtime/topology.ts";
import { copyCluster } from "./cluster-template.ts";

type FunctionName = keyof typeof FUNCTIONS;

const FIXTURES = join(import.meta.dirname, "..", "fixtures", "runtime");
/** As of `npm start`. */
const NODE_COMPILE_CACHE = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "strandline");

/** An empty folder that is gone after the test. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "strandline test "));
  onTestFinished(async () => await rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export interface Observations {
  /** Where handlers write what they saw. */
  directory: string;
  /** What handlers recorded under a name so far. */
  seen<T>(name: string): Promise<T[]>;
}

export interface TestRuntime extends Observations {
  runtime: Runtime;
  clients: ReturnType<typeof clientsOf>;
  /** Lines for the terminal. */
  shown: string[];
}

/** In this process; stopped after the test. */
export async function testRuntime(
  names: readonly FunctionName[],
  options: Partial<RuntimeOptions> = {},
): Promise<TestRuntime> {
  const directory = await testFolder();
  const shown: string[] = [];
  const { topology = topologyOf(...names), home = join(directory, "home") } = options;
  await bringCluster(topology, home);
  const runtime = await startRuntime({
    topology,
    home,
    functionsDirectory: join(FIXTURES, "functions"),
    adminKey: false,
    show: (line) => shown.push(line),
    ...options,
    env: { FIXTURE_DIRECTORY: directory, ...options.env },
  });
  onTestFinished(() => runtime.stop());
  return { runtime, directory, shown, clients: clientsOf(runtime), seen: reader(directory) };
}

export interface RuntimeProcess {
  child: ChildProcess;
  url: string;
  addresses: Addresses;
  env: Record<string, string>;
  postgresPid: number | undefined;
  clients: ReturnType<typeof clientsOf>;
  /** Set where it did not start. */
  error: string | undefined;
}

/** In a process of its own, which is killed after the test if need be. Resolves once it runs, or failed to. */
export async function spawnRuntime(
  home: string,
  directory: string,
  names: readonly FunctionName[],
): Promise<RuntimeProcess> {
  await bringCluster(topologyOf(...names), home);
  const child = spawn(process.execPath, [join(FIXTURES, "run.ts"), home, directory, ...names], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE },
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const started = JSON.parse(line) as RuntimeProcess;
  return { ...started, child, clients: clientsOf(started) };
}

async function bringCluster({ functions }: Topology, home: string): Promise<void> {
  if (functions.some(({ grants }) => grants.database)) await copyCluster(home);
}

export function reader(directory: string): Observations["seen"] {
  return async <T>(name: string) => {
    const text = await readFile(join(directory, `${name}.jsonl`), "utf8").catch(() => "");
    // the last line may still be under way
    const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
  };
}

/** Where a runtime did not start, there is nothing to ask. */
function clientsOf({ addresses, env }: Partial<Pick<Runtime, "addresses" | "env">>) {
  const common = { region: "us-east-1", credentials: credentialsIn(env ?? {}) };
  const sqs = new SQSClient({ ...common, endpoint: addresses?.sqs ?? "" });
  return {
    sqs,
    s3: new S3Client({ ...common, endpoint: addresses?.s3 ?? "", forcePathStyle: true }),
    dynamo: new DynamoDBClient({ ...common, endpoint: addresses?.dynamodb ?? "" }),
    scheduler: new SchedulerClient({ ...common, endpoint: addresses?.scheduler ?? "" }),
    /** Of WebSocket connections. */
    management: new ApiGatewayManagementApiClient({ ...common, maxAttempts: 1, endpoint: addresses?.api ?? "" }),
    queueUrl: (queue: string) => `${addresses?.sqs}/000000000000/${queue}`,
    async send(queue: string, message: unknown, DelaySeconds?: number): Promise<void> {
      const QueueUrl = `${addresses?.sqs}/000000000000/${queue}`;
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(message), DelaySeconds }));
    },
  };
}
