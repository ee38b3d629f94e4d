/** Starts the services that integration tests share, once per run: PostgreSQL with a migrated template, SQS, S3, DynamoDB. */
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

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), "strandline-test-"));
  const [postgres, aws] = await Promise.all([
    startPostgres({ directory, database: "template", surviveMachineCrash: false, maxConnections: 200 }),
    startAws(),
  ]);
  const sql = connectDatabase({ url: postgres.url, poolSize: 1 });
  await migrate(sql);
  await sql.end();
  project.provide("postgresTemplateUrl", postgres.url);
  project.provide("awsEnv", aws.env);
  return async () => {
    await Promise.all([postgres.stop(), aws.stop()]);
    await rm(directory, { recursive: true, force: true });
  };
}
