/** The folder of a rehearsal: what runs on this machine for it, and what the steps tell each other. */
import { type SpawnOptions, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export const PROJECT = resolve(import.meta.dirname, "..", "..");
export const KIT = import.meta.dirname;

export const PORTS = {
  emulator: 4566,
  /** Where the database is found: the stacks write no other into its URL. */
  database: 5432,
  /** PostgreSQL itself, behind the gate. */
  postgres: 5433,
  handbook: 3100,
  oddities: 3101,
};

/** Whoever deploys. The emulator takes any; the account is its own. */
export const CREDENTIALS = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test", AWS_REGION: "us-east-1" };
export const ENDPOINT = `http://127.0.0.1:${PORTS.emulator}`;

/** What a deployment has said at its end. */
export interface Deployed {
  url: string;
  key: string;
  socketId: string;
  iam: boolean;
}

interface Remembered {
  pid: number;
  /** Clock ticks since the machine's start: with it an id cannot be somebody else's by now. */
  started: string;
}

export class Workshop {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = resolve(folder);
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  say(text: string): void {
    process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${text}\n`);
  }

  /** Starts what goes on running after this command; its output goes to `NAME.log`. */
  start(name: string, command: readonly string[], options: SpawnOptions = {}): void {
    const [program = "", ...args] = command;
    const log = openSync(this.path(`${name}.log`), "w", 0o600);
    const child = spawn(program, args, { ...options, detached: true, stdio: ["ignore", log, log] });
    child.unref();
    if (child.pid === undefined) throw new Error(`${program} did not start: is it installed?`);
    const running: Remembered = { pid: child.pid, started: startOf(child.pid) ?? "" };
    writeFileSync(this.path(`${name}.pid.json`), JSON.stringify(running));
  }

  async stop(name: string, signal: NodeJS.Signals): Promise<void> {
    const file = this.path(`${name}.pid.json`);
    if (!existsSync(file)) return;
    const { pid, started }: Remembered = JSON.parse(readFileSync(file, "utf8"));
    for (let tries = 0; startOf(pid) === started && started !== ""; tries++) {
      if (tries === 0) process.kill(pid, signal);
      if (tries === 100) process.kill(pid, "SIGKILL");
      await delay(100);
    }
    rmSync(file);
  }

  /** Runs a command to its end; what it prints goes to a log, whose last lines the error shows. */
  async run(name: string, command: readonly string[], options: SpawnOptions = {}): Promise<string> {
    const [program = "", ...args] = command;
    const child = spawn(program, args, { cwd: PROJECT, ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout?.on("data", (chunk) => (output += chunk));
    child.stderr?.on("data", (chunk) => (output += chunk));
    const code = await new Promise((ended, failed) => child.once("error", failed).once("close", ended));
    writeFileSync(this.path(`${name}.log`), output, { mode: 0o600 });
    if (code === 0) return output;
    const last = output.trim().split("\n").slice(-15).join("\n");
    throw new Error(`${name} failed with code ${code}; all it said is in ${this.path(`${name}.log`)}\n${last}`);
  }

  write(name: string, value: unknown): void {
    writeFileSync(this.path(`${name}.json`), JSON.stringify(value, null, 2), { mode: 0o600 });
  }

  read<T>(name: string): T {
    const file = this.path(`${name}.json`);
    if (!existsSync(file)) throw new Error(`There is no ${file}: run \`rehearse.ts up\` first`);
    return JSON.parse(readFileSync(file, "utf8")) as T;
  }
}

/** Field 22 of `/proc/PID/stat`; undefined where there is no such process, or only its remains. */
function startOf(pid: number): string | undefined {
  try {
    const [, state, ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .split(/^.*\) /s)
      .join(" ")
      .split(" ");
    return state === "Z" ? undefined : fields[18];
  } catch {
    return undefined;
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((told) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => told(true)).once("error", () => told(false));
    socket.once("connect", () => socket.destroy());
  });
}

export async function untilOpen(port: number, what: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await isOpen(port)) return;
    await delay(100);
  }
  throw new Error(`${what} does not answer on port ${port}: see its log`);
}

/** What was just stopped may hold its port a moment longer. */
export async function untilFree(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (!(await isOpen(port))) return;
    await delay(100);
  }
  throw new Error(`Port ${port} is taken: stop what listens there`);
}
