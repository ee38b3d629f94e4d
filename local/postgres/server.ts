/** The server process of an embedded PostgreSQL cluster: started, watched, stopped. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../ports.ts";
import type { PostgresHost } from "./host.ts";

export interface ServerOptions {
  /** Of the log. */
  directory: string;
  /** See `PostgresOptions`. */
  surviveMachineCrash?: boolean;
  maxConnections?: number;
}

export interface Started {
  server: ChildProcess;
  pid: number;
  port: number;
}

const START_TIMEOUT_MS = 60_000;
/** Then it stops without a checkpoint, and recovers from its log at the next start. */
const STOP_TIMEOUT_MS = 2_000;

export interface Wanted {
  port: number;
  /** No other port will do: clients know this one. */
  exactly: boolean;
  /** Given up where it says so. */
  signal?: AbortSignal;
}

/** @throws Error that holds the end of the server's own log where it does not come up */
export async function startServer(
  host: PostgresHost,
  data: string,
  options: ServerOptions,
  wanted: Wanted,
): Promise<Started> {
  const log = join(options.directory, "postgres.log");
  const deadline = Date.now() + START_TIMEOUT_MS;
  let port = wanted.exactly ? wanted.port : await freePort(wanted.port);
  for (;;) {
    const flags = Object.entries(settings(port, options)).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const output = openSync(log, wanted.exactly ? "a" : "w", 0o600);
    // a session of its own: Ctrl-C in the terminal is ours to handle, Postgres stops after the last event
    const server = host.spawn("postgres", ["-D", data, ...flags], {
      stdio: ["ignore", output, output],
      detached: true,
    });
    closeSync(output);
    const pid = await untilReady(server, data, deadline, wanted.signal);
    if (pid !== undefined) return { server, pid, port };
    const text = await readFile(log, "utf8");
    // somebody took the port meanwhile, or processes of a killed server are still letting go of its memory
    const passing = /could not bind|Address already in use|still in use|is already in use/.test(text.slice(-2_000));
    if (!passing || Date.now() > deadline || wanted.signal?.aborted) {
      throw new Error(`PostgreSQL did not start; the end of ${log}:\n${text.slice(-2_000).trim()}`);
    }
    if (!wanted.exactly) port = await freePort();
    await delay(100);
  }
}

function settings(port: number, { surviveMachineCrash = true, maxConnections = 120 }: ServerOptions) {
  return {
    listen_addresses: "127.0.0.1",
    port,
    // socket paths are limited to about 100 bytes, and nobody needs one
    unix_socket_directories: "",
    max_connections: maxConnections,
    shared_buffers: "128MB",
    // /dev/shm is tiny in many containers
    dynamic_shared_memory_type: "mmap",
    synchronous_commit: "on",
    fsync: surviveMachineCrash ? "on" : "off",
    full_page_writes: surviveMachineCrash ? "on" : "off",
    wal_level: "minimal",
    max_wal_senders: 0,
    max_wal_size: "1GB",
    checkpoint_timeout: "15min",
    log_checkpoints: "off",
    // no worker processes for reads that the page cache answers
    io_method: "sync",
    jit: "off",
  };
}

/**
 * The server's process id once it takes connections, as pg_ctl finds it out; undefined where the process ended instead.
 */
async function untilReady(
  server: ChildProcess,
  data: string,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  let failure: Error | undefined;
  server.on("error", (error) => {
    failure = error;
  });
  while (server.exitCode === null && server.signalCode === null) {
    if (failure) throw failure;
    if (Date.now() > deadline || signal?.aborted) {
      server.kill("SIGKILL");
      return undefined;
    }
    const lines = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    if (lines[7]?.trim() === "ready" && Number(lines[0]) === server.pid) return server.pid;
    await delay(10);
  }
  return undefined;
}

/**
 * Stops the server when this process is gone: the shell below waits for the end of a pipe that only this process holds
 * open, which a `kill -9` closes too.
 */
export function watch(pid: number): ChildProcess {
  const watchdog = spawn("/bin/sh", ["-c", 'read -r _; kill -INT "$0"', String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // without a shell nobody watches; the next start still finds the orphan
  watchdog.on("error", () => {});
  watchdog.stdin?.on("error", () => {});
  watchdog.unref();
  return watchdog;
}

export async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, "exit");
  // SIGINT is Postgres's fast shutdown, SIGQUIT its immediate one, after which it recovers from its log
  server.kill("SIGINT");
  const timer = setTimeout(() => server.kill("SIGQUIT"), STOP_TIMEOUT_MS);
  await gone;
  clearTimeout(timer);
}
