/**
 * Makes the user that functions are to the database, which knows them by IAM. Only the master user may, whose password
 * is in Secrets Manager, and the private network has no way there: RDS's Data API does it from outside, before the
 * migration of a deployment.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SignatureV4 } from "@smithy/signature-v4";
import { environmentCredentials } from "../../shared/platform/aws/environment-credentials.ts";
import { Sha256 } from "../../shared/platform/aws/sha256.ts";
import { type Clock, systemClock } from "../../shared/platform/clock.ts";
import { PermanentError, RetryableError } from "../../shared/platform/errors.ts";
import { retryTransient } from "../../shared/platform/transient-errors.ts";

/** A database that was paused for days may take minutes to come back. */
const LONGEST_RESUME_MS = 240_000;
/** The Data API itself gives up on a statement after 45 s. */
const TIMEOUT_MS = 60_000;

/** What the API says while the database resumes, or cannot be had for another while. */
const PASSING = /DatabaseResuming|DatabaseUnavailable|ServiceUnavailable|InternalServerError|Throttl/;

/**
 * Whoever is a member of RDS's role for IAM comes in by a token alone, and to make the user is what may make the master
 * user one: then all was done before.
 */
const MADE_BEFORE = /PAM authentication failed/;

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
}

/** @throws Error with what RDS says, where it does not make the user within four minutes */
export async function handler(_event: unknown, _context: unknown): Promise<void> {
  await makeDatabaseUser({ env: process.env, clock: systemClock });
}

export async function makeDatabaseUser({ env, clock }: Surroundings): Promise<void> {
  const sql = await readFile(join(import.meta.dirname, "create-user.sql"), "utf8");
  const until = clock.now() + LONGEST_RESUME_MS;
  await retryTransient(clock, { until }, () => execute(sql, env));
}

async function execute(sql: string, env: Surroundings["env"]): Promise<void> {
  const { AWS_REGION: region = "", AWS_ENDPOINT_URL: endpoint = `https://rds-data.${region}.amazonaws.com` } = env;
  const { CLUSTER_ARN: resourceArn, SECRET_ARN: secretArn, DATABASE_NAME: database } = env;
  const url = new URL("/Execute", endpoint);
  const body = JSON.stringify({ resourceArn, secretArn, database, sql });
  const credentials = environmentCredentials(env);
  const signer = new SignatureV4({ service: "rds-data", region, sha256: Sha256, credentials });
  const { headers } = await signer.sign({
    method: "POST",
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: {},
    headers: { host: url.host, "content-type": "application/json" },
    body,
  });
  const { host: _, ...sent } = headers;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { method: "POST", headers: sent, body, signal }).catch((cause: unknown) => {
    throw new RetryableError("RDS's Data API does not answer", { code: "DATA_API_UNREACHABLE", cause });
  });
  const text = await response.text();
  if (response.ok || MADE_BEFORE.test(text)) return;
  const code = response.headers.get("x-amzn-errortype") ?? "";
  const message = `RDS's Data API answers ${response.status} ${code} ${text}`;
  if (response.status >= 500 || PASSING.test(code) || PASSING.test(text))
    throw new RetryableError(message, { code: "DATABASE_UNAVAILABLE" });
  throw new PermanentError(message, { code: "DATABASE_USER_REFUSED" });
}
