/** Child processes of the benchmarks, and what they used: read from /proc, so these figures need Linux. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

/** Clock ticks a second in /proc/PID/stat (USER_HZ), 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface Child {
  process: ChildProcess;
  pid: number;
  /** Stops it and waits for its end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts `node script` with this environment on top of ours. Its stderr is ours. */
export function startNode(script: string, args: string[] = [], env: Record<string, string> = {}): Child {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.pid === undefined) throw new Error(`${script} did not start`);
  return {
    process: child,
    pid: child.pid,
    async stop(signal = "SIGTERM") {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    },
  };
}

/**
 * The first line of the child's output that is a JSON object.
 * @throws Error where it ends without one
 */
export async function readJsonLine<T>(child: Child, field?: string & keyof T): Promise<T> {
  if (child.process.stdout === null) throw new Error("the child has no output to read");
  for await (const line of createInterface({ input: child.process.stdout })) {
    if (line.startsWith("{") && (field === undefined || line.includes(`"${field}"`))) {
      child.process.stdout.resume();
      return JSON.parse(line) as T;
    }
  }
  throw new Error(`the child ended (exit code ${child.process.exitCode}) without printing its answer`);
}

/** User and system CPU of one process in ms, its ended children included where `withChildren`. */
async function statMs(pid: number, withChildren: boolean): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // the name in parentheses may hold spaces; fields are counted behind it: utime is the 14th of all
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const ticks = (fields[11] ?? 0) + (fields[12] ?? 0) + (withChildren ? (fields[13] ?? 0) + (fields[14] ?? 0) : 0);
  return (ticks * 1000) / TICKS_PER_SECOND;
}

/** None of a process that has ended. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return text.split(" ").filter(Boolean).map(Number);
}

/** CPU of the process alone, in ms. */
export const cpuMs = (pid: number): Promise<number> => statMs(pid, false);

/** CPU of a process and of every process below it, ended ones included, in ms. */
export async function treeCpuMs(pid: number): Promise<number> {
  let total = await statMs(pid, true);
  for (const child of await childrenOf(pid)) total += await treeCpuMs(child).catch(noneOfEnded);
  return total;
}

/** A process may end between being listed and being read; who waited for it has its time from then on. */
function noneOfEnded(error: NodeJS.ErrnoException): number {
  if (error.code === "ENOENT" || error.code === "ESRCH") return 0;
  throw error;
}

/** Threads of a process. */
export async function threadsOf(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/task`)).length;
}

/**
 * Memory of every process below one, in MB: pages that several share are divided among them, as Postgres shares its
 * buffers.
 */
export async function childrenMemoryMb(pid: number): Promise<number> {
  let total = 0;
  for (const child of await childrenOf(pid)) {
    const rollup = await readFile(`/proc/${child}/smaps_rollup`, "utf8");
    total += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / 1024 + (await childrenMemoryMb(child));
  }
  return total;
}

/** The most resident memory that the process ever had, and has now, in MB. */
export async function memoryMb(pid: number): Promise<{ peak: number; now: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? Number.NaN);
  return { peak: kilobytes("VmHWM") / 1024, now: kilobytes("VmRSS") / 1024 };
}
