/** A Postgres that outlived its runtime and still holds the data directory. */
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Fast shutdown first, then an immediate one, then none is asked. */
const STEPS: readonly { signal: NodeJS.Signals; waitMs: number }[] = [
  { signal: "SIGINT", waitMs: 5_000 },
  { signal: "SIGQUIT", waitMs: 3_000 },
  { signal: "SIGKILL", waitMs: 2_000 },
];

/**
 * Stops the server that this data directory's `postmaster.pid` names, if it is one and serves this very directory; a
 * pid file of a server that is gone, or whose number now belongs to another process, is removed.
 */
export async function stopOrphan(data: string): Promise<void> {
  const pidFile = join(data, "postmaster.pid");
  const text = await readFile(pidFile, "utf8").catch(() => undefined);
  if (text === undefined) return;
  const pid = Number(text.split("\n")[0]);
  for (const { signal, waitMs } of STEPS) {
    if (!(await servesDirectory(pid, data))) break;
    try {
      process.kill(pid, signal);
    } catch {
      break;
    }
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline && (await servesDirectory(pid, data))) await delay(20);
  }
  await rm(pidFile, { force: true });
}

async function servesDirectory(pid: number, data: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  const command = await commandLine(pid);
  return /postgres/.test(command) && command.includes(data);
}

/** Arguments separated by blanks; empty where there is no such process, or it has already ended. */
async function commandLine(pid: number): Promise<string> {
  if (process.platform === "linux") {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ");
  }
  const { stdout } = await run("ps", ["-ww", "-o", "command=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout;
}
