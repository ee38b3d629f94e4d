/** One task on this machine: its containers as processes, on a folder of their own in place of a shared volume. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";

const TASKS = join(import.meta.dirname, "..", "..", "tasks", "zimit");
const LONGEST_STOP_MS = 120_000;

export interface TaskOptions {
  /** Its own; what it leaves there goes with it. */
  directory: string;
  /** The zimit program. */
  command: string;
  /** Of all its containers. */
  environment: Record<string, string>;
  onLine(line: string): void;
}

export interface TaskEnd {
  /** By container; null of one that was killed. */
  exitCodes: Record<string, number | null>;
}

export interface Task {
  ended: Promise<TaskEnd>;
  /** As Fargate does it: a signal to all, and two minutes later their end. */
  stop(): void;
  /** At once, as a machine that goes. */
  kill(): void;
}

export function runTask({ directory, command, environment, onLine }: TaskOptions): Task {
  const output = join(directory, "output");
  const running = new Set<ChildProcess>();
  let stopped = false;
  /** @param says whether what it prints is told: an engine's log lies in its folder */
  const run = async (program: string, args: string[], says: boolean): Promise<number | null> => {
    if (stopped) return null;
    const path = `${join(directory, "bin")}:${process.env["PATH"] ?? ""}`;
    const env = { PATH: path, HOME: directory, LANG: "C.UTF-8", ...environment, OUTPUT: output };
    // a group of its own, so that it is ended with whatever it has started
    const stdio = says ? ("pipe" as const) : ("ignore" as const);
    const child = spawn(program, args, { env, cwd: directory, detached: true, stdio: ["ignore", stdio, stdio] });
    running.add(child);
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (bytes: Buffer) => onLine(String(bytes).trimEnd()));
    return await new Promise((resolve) => {
      child.on("error", (error) => {
        onLine(String(error));
        running.delete(child);
        resolve(127);
      });
      child.on("exit", (code) => {
        running.delete(child);
        resolve(code);
      });
    });
  };
  const killAll = () => {
    stopped = true;
    for (const { pid } of running) if (pid !== undefined) killGroup(pid);
  };
  const work = async (): Promise<TaskEnd> => {
    await mkdir(output, { recursive: true });
    await mkdir(join(directory, "bin"), { recursive: true });
    await symlink(command, join(directory, "bin", "zimit"));
    // the engine may not outlive who takes what it leaves
    const uploading = run(process.execPath, [join(TASKS, "uploader.ts")], true).then((code) => {
      if (code !== 0) killAll();
      return code;
    });
    const [zimit, uploader] = await Promise.all([run("bash", [join(TASKS, "entry.sh")], false), uploading]);
    return { exitCodes: { zimit, uploader } };
  };
  return {
    ended: work().finally(() => rm(directory, { recursive: true, force: true })),
    stop() {
      // to the first process of each container, and to no other
      for (const child of running) child.kill("SIGTERM");
      setTimeout(killAll, LONGEST_STOP_MS).unref();
    },
    kill: killAll,
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it has gone
  }
}
