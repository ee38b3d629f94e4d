/**
 * Starts the services that integration tests share, once per run: PostgreSQL with a migrated template, SQS, S3,
 * DynamoDB.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startAws } from "../../local/aws/emulators.ts";
import { startPostgres } from "../../local/postgres/postgres.ts";
import { connectDatabase } from "../../shared/platform/database/database.ts";
import { migrate } from "../../shared/platform/database/migrations.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A database that holds the schema; copied by `testDatabase`, so nobody may be connected to it. */
    postgresTemplateUrl: string;
    awsEnv: Record<string, string>;
  }
}

interface Services {
  postgresTemplateUrl: string;
  awsEnv: Record<string, string>;
  stop(): Promise<void>;
}

declare global {
  /** Of this run; the projects that use them share them, though each has loaded this file. */
  var testServices: { users: number; started: Promise<Services> } | undefined;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  globalThis.testServices ??= { users: 0, started: start() };
  const shared = globalThis.testServices;
  shared.users += 1;
  const { postgresTemplateUrl, awsEnv, stop } = await shared.started;
  project.provide("postgresTemplateUrl", postgresTemplateUrl);
  project.provide("awsEnv", awsEnv);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    globalThis.testServices = undefined;
    await stop();
  };
}

async function start(): Promise<Services> {
  const directory = await mkdtemp(join(tmpdir(), "strandline-test-"));
  const [postgres, aws] = await Promise.all([
    startPostgres({ directory, database: "template", surviveMachineCrash: false, maxConnections: 200 }),
    startAws(),
  ]);
  const template = connectDatabase({ url: postgres.url, poolSize: 1 });
  await migrate(template);
  await template.end();
  const adminUrl = Object.assign(new URL(postgres.url), { pathname: "/postgres" }).href;
  const admin = connectDatabase({ url: adminUrl, poolSize: 1 });
  await admin`create table spare_databases (name text primary key)`;
  await admin.end();
  return {
    postgresTemplateUrl: postgres.url,
    awsEnv: aws.env,
    async stop() {
      await Promise.all([postgres.stop(), aws.stop()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
