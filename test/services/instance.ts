/** A whole Strandline as a process of its own: for the tests of a runtime, and for measurements. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { hasEnded } from "../../cli/jobs-api.ts";
import { lastOf, watchJob } from "../../cli/watch-job.ts";
import { copyCluster } from "./cluster-template.ts";
import { type Child, startNode } from "./processes.ts";

export interface JobAnswer {
  job_id: string;
  status: string;
  /** ISO 8601; null while the job has not ended. */
  completed_at: string | null;
  created_at: string;
  counts: Record<string, number>;
}

/** A runtime that somebody else started and will stop. */
export interface RunningInstance {
  /** The state folder; a later instance may be started on it. */
  home: string;
  port: number;
  url: string;
  postgresUrl: string;
  /** The admin key. */
  apiKey: string;
  /**
   * Calls the API.
   * @throws Error with the answer where it is not 2xx
   */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  /**
   * Polls until the job has ended.
   * @throws Error where it has not within `timeoutMs`, or has failed
   */
  waitForJob(jobId: string, timeoutMs?: number, pollMs?: number): Promise<JobAnswer>;
}

export interface Instance extends RunningInstance {
  child: Child;
  /** Ctrl-C. The state folder stays where the caller gave it, and is removed otherwise. */
  stop(): Promise<void>;
  /** `kill -9`. The state folder stays. */
  kill(): Promise<void>;
}

export interface InstanceOptions {
  env?: Record<string, string>;
  home?: string;
  port?: number;
  /** Three minutes where not given. */
  startTimeoutMs?: number;
}

const START = join(import.meta.dirname, "../../local/start.js");
const START_TIMEOUT_MS = 180_000;
/** Only against waiting for ever: how long a job takes is up to the machine. */
const JOB_TIMEOUT_MS = 300_000;
const POLL_MS = 100;

export async function startInstance(options: InstanceOptions = {}): Promise<Instance> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), "strandline instance ")));
  const port = options.port ?? (await freePort());
  await copyCluster(home);
  const child = startNode(START, [], { STRANDLINE_HOME: home, PORT: String(port), ...options.env });
  child.process.stdout?.resume();
  await waitFor(`http://127.0.0.1:${port}/api/v1/health/ready`, child, options.startTimeoutMs);
  return {
    ...(await connectInstance(home)),
    child,
    async stop() {
      await child.stop("SIGINT");
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
    },
    async kill() {
      await child.stop("SIGKILL");
    },
  };
}

/** The runtime that runs on the state folder `home`. */
export async function connectInstance(home: string): Promise<RunningInstance> {
  const { api_key } = JSON.parse(await readFile(join(home, "credentials.json"), "utf8")) as { api_key: string };
  const { url, env } = JSON.parse(await readFile(join(home, "runtime.json"), "utf8")) as {
    url: string;
    env: Record<string, string>;
  };

  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${api_key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) {
      throw Object.assign(new Error(`${method} ${path}: ${response.status} ${text}`), { status: response.status });
    }
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };

  return {
    home,
    port: Number(new URL(url).port),
    url,
    postgresUrl: env["DATABASE__POSTGRES_URL"] ?? "",
    apiKey: api_key,
    call,
    async waitForJob(jobId, timeoutMs = JOB_TIMEOUT_MS, pollMs = POLL_MS) {
      const deadline = Date.now() + timeoutMs;
      const read = () => call<JobAnswer>("GET", `/api/v1/crawl/${jobId}?limit=1`);
      const job = await lastOf(watchJob(read, hasEnded, pollMs), (job) => {
        if (hasEnded(job) || Date.now() <= deadline) return;
        throw new Error(`the job has not ended in ${timeoutMs} ms: ${JSON.stringify(job)}`);
      });
      if (job.status !== "completed") throw new Error(`the job ended as ${job.status}: ${JSON.stringify(job)}`);
      return job;
    },
  };
}

async function waitFor(url: string, child: Child, timeoutMs = START_TIMEOUT_MS): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    if (child.process.exitCode !== null) throw new Error(`the runtime ended with exit code ${child.process.exitCode}`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    if (Date.now() > deadline) throw new Error(`no answer from ${url} within ${timeoutMs} ms`);
    await delay(POLL_MS);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
