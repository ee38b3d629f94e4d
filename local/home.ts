/** The runtime's folder, `.strandline` by default: who runs in it, at which addresses, and the key for its API. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isMainThread } from "node:worker_threads";
import { z } from "zod";

const infoSchema = z.object({
  pid: z.number(),
  url: z.string(),
  ports: z.object({
    api: z.number().optional(),
    sqsAndS3: z.number().optional(),
    dynamo: z.number().optional(),
    scheduler: z.number().optional(),
    postgres: z.number().optional(),
  }),
  /** Settings of the handlers, by which `npm run invoke` and other tools find the services. */
  env: z.record(z.string(), z.string()).default({}),
});
export type RuntimeInfo = z.infer<typeof infoSchema>;

const credentialsSchema = z.object({ api_url: z.string(), api_key: z.string() });
export type Credentials = z.infer<typeof credentialsSchema>;

export class AlreadyRunning extends Error {
  constructor(home: string, info: RuntimeInfo | undefined) {
    const who = info === undefined ? "another process" : `process ${info.pid} at ${info.url}`;
    super(
      `Strandline is already running in ${home}: ${who}. Stop it first, or set ` +
        "STRANDLINE_HOME and PORT to run a second one.",
    );
    this.name = "AlreadyRunning";
  }
}

/** The folder cannot be made, or not written to. */
export class UnusableHome extends Error {
  constructor(home: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`The state folder ${home} cannot be used: ${why}. Set STRANDLINE_HOME to one that you may write to.`, {
      cause,
    });
    this.name = "UnusableHome";
  }
}

export interface Home {
  path: string;
  /** What the last runtime here wrote of itself; its ports are asked for again. */
  previous: RuntimeInfo | undefined;
  announce(info: RuntimeInfo): void;
  /** Lets the next one in. */
  release(): void;
}

/**
 * Makes the folder if need be and takes it for this process.
 * @throws AlreadyRunning, UnusableHome
 */
export function takeHome(path: string): Home {
  const home = resolve(path);
  const lock = openHome(home);
  if (lock === undefined) throw new AlreadyRunning(home, readRuntimeInfo(home));
  return {
    path: home,
    previous: readRuntimeInfo(home),
    announce: (info) => writeWhole(join(home, "runtime.json"), `${JSON.stringify(info, null, 2)}\n`),
    release: () => lock.close(),
  };
}

function openHome(home: string): DatabaseSync | undefined {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    keepPrivate(home);
    // so that the folder is never committed, wherever it lies
    if (!existsSync(join(home, ".gitignore"))) writeFileSync(join(home, ".gitignore"), "*\n");
    return takeLock(join(home, "lock"));
  } catch (error) {
    throw new UnusableHome(home, error);
  }
}

/** Permissions that others than the owner have. */
const OF_OTHERS = 0o077;

/** It holds the pages of whoever was crawled, keys, and passwords of proxies: nobody but its owner may look in. */
function keepPrivate(home: string): void {
  // for all that is written from here on, whoever writes it
  if (isMainThread) process.umask(OF_OTHERS);
  if ((statSync(home).mode & OF_OTHERS) === 0) return;
  chmodSync(home, 0o700);
  for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // the permissions of a link are those of what it leads to, which may lie elsewhere
    if (entry.isDirectory()) chmodSync(path, 0o700);
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & ~OF_OTHERS);
  }
}

/**
 * An exclusive transaction that stays open: the operating system takes the lock off when the process ends, however it
 * ends, so there is no stale lock, and no process id that now belongs to another.
 */
function takeLock(file: string): DatabaseSync | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec("begin exclusive");
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

const SQLITE_BUSY = 5;

/** Of the runtime that runs in this folder, or ran there last. */
export function readRuntimeInfo(home: string): RuntimeInfo | undefined {
  return infoSchema.safeParse(readJson(join(home, "runtime.json"))).data;
}

export function readCredentials(home: string): Credentials | undefined {
  return credentialsSchema.safeParse(readJson(join(home, "credentials.json"))).data;
}

/** For the CLI; nobody but its owner may read it. */
export function writeCredentials(home: string, credentials: Credentials): void {
  writeWhole(join(home, "credentials.json"), `${JSON.stringify(credentials, null, 2)}\n`);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.partial`, text, { mode: 0o600 });
  chmodSync(`${file}.partial`, 0o600);
  renameSync(`${file}.partial`, file);
}
