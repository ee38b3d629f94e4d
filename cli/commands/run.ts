/** `start`, `demo`, `backup` and `restore` run programs of their own, with the same Node and the same terminal. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { CliError, EXIT } from "../exit.ts";

const PROGRAMS = {
  start: "local/start.js",
  demo: "demo/demo.ts",
  backup: "local/backup/backup.ts",
  restore: "local/backup/restore.ts",
} as const;

/** @returns the program's exit code */
export function runProgram(name: keyof typeof PROGRAMS, args: readonly string[]): Promise<number> {
  const script = join(import.meta.dirname, "../..", PROGRAMS[name]);
  const child = spawn(process.execPath, [script, ...args], { stdio: "inherit" });
  // Ctrl-C reaches the program by itself and it says when it is done
  const ignore = () => {};
  const forward = (signal: NodeJS.Signals) => void child.kill(signal);
  process.on("SIGINT", ignore).on("SIGTERM", forward).on("SIGHUP", forward);
  return new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new CliError(`${script} did not start: ${error.message}`, EXIT.failed)));
    child.on("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
