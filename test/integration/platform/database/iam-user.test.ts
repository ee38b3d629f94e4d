/** A real PostgreSQL behind a gate that takes tokens as RDS does, over TLS. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { startTokenGate } from "../../../../infra/rehearsal/token-gate.ts";
import { connectDatabase } from "../../../../shared/platform/database/database.ts";
import { migrate } from "../../../../shared/platform/database/migrations.ts";
import { TEST_CERTIFICATE } from "../../../services/certificate.ts";

const USER = "strandline_functions";
const MASTER = `master_${randomUUID().slice(0, 8)}`;
const DATABASE = `iam_${randomUUID().slice(0, 8)}`;
const KEY = { id: "AKIDEXAMPLE", secret: "an-example" };
const SQL = join(import.meta.dirname, "../../../../tasks/database-user/create-user.sql");

let admin: postgres.Sql;
const urlOf = (user: string) =>
  Object.assign(new URL(inject("postgresTemplateUrl")), { pathname: `/${DATABASE}`, username: user, password: "x" });

/** As RDS makes them: the master user gives its role for IAM away, and is no superuser. */
beforeAll(async () => {
  admin = postgres(Object.assign(new URL(inject("postgresTemplateUrl")), { pathname: "/postgres" }).href, {
    max: 1,
    onnotice: () => {},
  });
  await admin.unsafe("create role rds_iam");
  await admin.unsafe(`create role ${MASTER} login createdb createrole password 'x'`);
  await admin.unsafe(`grant rds_iam to ${MASTER} with admin true, inherit false, set false`);
  await admin.unsafe(`create database ${DATABASE} owner ${MASTER}`);
});
afterAll(async () => {
  await admin.unsafe(`drop database ${DATABASE} with (force)`);
  await admin.unsafe(`drop role if exists ${MASTER}, ${USER}, rds_iam`);
  await admin.end();
});

async function asMaster(work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(urlOf(MASTER).href, { max: 1, onnotice: () => {} });
  await work(sql).finally(() => sql.end());
}

async function makeUser(): Promise<void> {
  await asMaster(async (sql) => sql.unsafe(await readFile(SQL, "utf8")));
}

/** Which this server asks the gate for: there is no IAM in it. */
const givePassword = () => admin.unsafe(`alter role ${USER} password 'x'`);

async function gate(options: { now?: () => number; secret?: string } = {}) {
  await makeUser();
  await givePassword();
  const faults: (string | undefined)[] = [];
  const started = await startTokenGate({
    port: 0,
    tls: TEST_CERTIFICATE,
    upstreamPort: Number(urlOf(USER).port),
    upstreamPassword: "x",
    user: USER,
    hostname: "127.0.0.1",
    region: "eu-central-1",
    secretOf: (id) => (id === KEY.id ? (options.secret ?? KEY.secret) : undefined),
    judged: (fault) => faults.push(fault),
    ...(options.now && { now: options.now }),
  });
  onTestFinished(() => started[Symbol.asyncDispose]());
  const url = (user: string) => `postgres://${user}@127.0.0.1:${started.port}/${DATABASE}?sslmode=require`;
  return { faults, url };
}

function connect(url: string, poolSize = 1) {
  vi.stubEnv("AWS_REGION", "eu-central-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", KEY.id);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", KEY.secret);
  vi.stubEnv("AWS_SESSION_TOKEN", undefined);
  const sql = connectDatabase({ url, poolSize, auth: "iam" });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    vi.unstubAllEnvs();
  });
  return sql;
}

describe("the user of the functions", () => {
  test("is made by the master user, as often as is asked for, and owns what an earlier version made", async () => {
    await asMaster(async (sql) => {
      await migrate(sql as never);
      await sql`insert into collections (id, name) values (${randomUUID()}, 'before')`;
    });
    await makeUser();
    await makeUser();
    const owners = await admin.unsafe(
      `select datdba::regrole::text as owner from pg_database where datname = '${DATABASE}'`,
    );
    expect(owners).toEqual([{ owner: USER }]);
    const [role] = await admin`
      select rolsuper, rolcreaterole, rolcreatedb, rolpassword, pg_has_role(${USER}, 'rds_iam', 'usage') as iam
      from pg_authid where rolname = ${USER}`;
    expect(role).toEqual({ rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolpassword: null, iam: true });
  });

  test("comes in by a token over TLS, and may do what migrations and functions do", async () => {
    const { faults, url } = await gate();
    const sql = connect(url(USER));
    await migrate(sql);
    expect(await sql`select current_user::text as name, count(*)::int as kept from collections group by 1`).toEqual([
      { name: USER, kept: 1 },
    ]);
    await sql`create table made (id int)`;
    await sql`alter table collections add column more int`;
    await sql`alter table collections drop column more`;
    await sql`create extension if not exists pg_trgm`;
    await sql`drop table made`;
    expect(faults).toEqual([undefined]);
  });

  test("shows a token of its own for each new connection", async () => {
    const { faults, url } = await gate();
    const sql = connect(url(USER), 2);
    await Promise.all([sql`select pg_sleep(0.1)`, sql`select pg_sleep(0.1)`]);
    const [first] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await admin`select pg_terminate_backend(${first?.pid ?? 0}, 10000)`;
    await expect.poll(() => sql`select 1 as one`.catch(() => [])).toEqual([{ one: 1 }]);
    expect(faults.length).toBeGreaterThanOrEqual(2);
    expect(new Set(faults)).toEqual(new Set([undefined]));
  });

  test.each([
    ["that expired", { now: () => Date.now() + 901_000 }, "it has expired"],
    ["that another secret has signed", { secret: "another" }, "its signature is wrong"],
  ])("is refused with a token %s", async (_what, options, fault) => {
    const { faults, url } = await gate(options);
    await expect(connect(url(USER))`select 1`).rejects.toMatchObject({ code: "28000" });
    expect(faults).toEqual([fault]);
  });
});
