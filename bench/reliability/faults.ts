/** Injects faults, one after the other and some all the time, and says how long it took to recover from each. */
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import type { Instance } from "../../test/services/instance.ts";
import type { FaultPlan, FaultRates } from "./fault-preload.ts";
import { ask, type TestedSystem } from "./tested-system.ts";

const NONE: FaultRates = { s3: 0, sqs: 0, dynamodb: 0, kill: 0, timeout: 0, duplicate: 0, reorder: 0 };
/** All the time. */
const USUAL: FaultRates = {
  s3: 0.01,
  sqs: 0.01,
  dynamodb: 0.01,
  kill: 0.004,
  timeout: 0.004,
  duplicate: 0.05,
  reorder: 0.2,
};
/** What more than three tries meet now and then. */
const BURST = 0.5;
const RECEIVER_FAULT_RATE = 0.15;
const POLL_MS = 50;

export interface FaultsOptions {
  /** Where the plan lies that `fault-preload.ts` reads. */
  file: string;
  start(): Promise<Instance>;
  /** Between the end of one fault and the next, in ms. */
  pauseMs: number;
  /** How long a service is gone, in ms. */
  outageMs: number;
}

export interface Faults {
  /** Goes through all kinds in turn until the load is over. */
  injectAll(): Promise<void>;
  /** No more faults, after a last `kill -9`. */
  end(): Promise<void>;
  /** How often each kind was injected. */
  counts(): Promise<Record<string, number>>;
  /** From the beginning of a fault, or the return of what was gone, to the first good answer, in seconds. */
  recoveries: Record<string, number[]>;
}

export function createFaults(system: TestedSystem, { file, start, pauseMs, outageMs }: FaultsOptions): Faults {
  const counts: Record<string, number> = {};
  const recoveries: Record<string, number[]> = {};
  let clockMs = 0;
  // whole at any time
  const plan = async (rates: FaultRates): Promise<void> => {
    await writeFile(`${file}-next`, JSON.stringify({ rates, clockMs } satisfies FaultPlan));
    await rename(`${file}-next`, file);
  };
  const note = (kind: string, since: number): void => {
    recoveries[kind] ??= [];
    recoveries[kind].push((performance.now() - since) / 1000);
  };
  const recovered = async (kind: string, path: string, body?: unknown): Promise<void> => {
    const since = performance.now();
    const isWell = async () => (await ask(system, body === undefined ? "GET" : "POST", path, body))?.status === 200;
    while (!(await isWell())) await delay(POLL_MS);
    note(kind, since);
  };
  const answersAgain = (kind: string) => recovered(kind, "/api/v1/jobs?limit=1");
  const burst = (service: "s3" | "sqs" | "dynamodb") => async () => {
    await plan({ ...USUAL, [service]: BURST });
    await delay(outageMs);
    await plan(USUAL);
  };
  const signalPostgres = (kind: string, signal: NodeJS.Signals) => async () => {
    const pidFile = await readFile(join(system.instance.home, "postgres", "data", "postmaster.pid"), "utf8");
    process.kill(Number(pidFile.split("\n")[0]), signal);
    await answersAgain(kind);
  };
  const killRuntime = async () => {
    await system.instance.kill();
    const since = performance.now();
    system.instance = await start();
    note("runtime_killed", since);
  };
  const kinds: Record<string, () => Promise<void>> = {
    s3_outage: burst("s3"),
    postgres_killed: signalPostgres("postgres_killed", "SIGKILL"),
    async vector_store_down() {
      system.vectorStore.isDown = true;
      await delay(outageMs);
      system.vectorStore.isDown = false;
      await recovered("vector_store_down", "/api/v1/search/vector", { query: "harbour wall" });
    },
    async clock_forward() {
      clockMs += 90_000;
      await plan(USUAL);
    },
    runtime_killed: killRuntime,
    sqs_outage: burst("sqs"),
    async functions_struck() {
      await plan({ ...USUAL, kill: 0.1, timeout: 0.1 });
      await delay(outageMs);
      await plan(USUAL);
    },
    async clock_back() {
      clockMs -= 90_000;
      await plan(USUAL);
    },
    postgres_restarted: signalPostgres("postgres_restarted", "SIGINT"),
    dynamodb_outage: burst("dynamodb"),
    async connections_cut() {
      const sql = postgres(system.instance.postgresUrl, { max: 1, onnotice: () => {} });
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'strandline' and pid <> pg_backend_pid()`;
      await sql.end();
      await answersAgain("connections_cut");
    },
  };
  return {
    recoveries,
    async injectAll() {
      system.receiver.faultRate = RECEIVER_FAULT_RATE;
      await plan(USUAL);
      for (;;) {
        for (const [kind, inject] of Object.entries(kinds)) {
          for (const until = performance.now() + pauseMs; performance.now() < until; ) {
            if (system.isOver) return;
            await delay(POLL_MS);
          }
          counts[kind] = (counts[kind] ?? 0) + 1;
          await inject();
        }
      }
    },
    async end() {
      clockMs = 0;
      system.receiver.faultRate = 0;
      await plan(NONE);
      counts["runtime_killed"] = (counts["runtime_killed"] ?? 0) + 1;
      await killRuntime();
    },
    async counts() {
      const all = {
        ...counts,
        webhook_refused: system.receiver.failed,
        vector_call_refused: system.vectorStore.failed,
      };
      const struck: Record<string, number> = {};
      for (const name of await readdir(dirname(file))) {
        if (!name.startsWith(`${basename(file)}.`)) continue;
        const more = JSON.parse(await readFile(join(dirname(file), name), "utf8")) as Record<string, number>;
        for (const [kind, times] of Object.entries(more)) struck[kind] = (struck[kind] ?? 0) + times;
      }
      return {
        ...all,
        ...Object.fromEntries(Object.entries(struck).map(([kind, times]) => [NAMES[kind] ?? kind, times])),
      };
    },
  };
}

const NAMES: Record<string, string> = {
  s3: "s3_call_failed",
  sqs: "sqs_call_failed",
  dynamodb: "dynamodb_call_failed",
  kill: "function_killed",
  timeout: "function_timed_out",
  duplicate: "message_duplicated",
  reorder: "message_reordered",
};
