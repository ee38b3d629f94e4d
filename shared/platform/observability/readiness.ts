/** Asks each dependency whether it answers, all at once, each with its own time limit. */
import type { Sql } from "../database/database.ts";
import type { Logger } from "./log.ts";

/** Resolves where the dependency answers, rejects where not. */
export type Check = (signal: AbortSignal) => Promise<unknown>;

export interface Readiness {
  ready: boolean;
  /** `ok`, or what failed in words that hold no address and no secret. */
  checks: Record<string, string>;
}

/**
 * Runs the checks of readiness. Causes of failures are only logged.
 * @param timeoutMs of each check
 */
export async function checkReadiness(
  checks: Readonly<Record<string, Check>>,
  timeoutMs: number,
  log: Logger,
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await checkOne(name, check, timeoutMs, log)] as const),
  );
  return { ready: results.every(([, result]) => result === "ok"), checks: Object.fromEntries(results) };
}

async function checkOne(name: string, check: Check, timeoutMs: number, log: Logger): Promise<string> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const expired = new Promise<never>((_, reject) => {
    timeout.signal.addEventListener("abort", () => reject(new Error(`no answer within ${timeoutMs} ms`)), {
      once: true,
    });
  });
  try {
    // a check that does not heed its signal must not hold up the answer
    await Promise.race([check(timeout.signal), expired]);
    return "ok";
  } catch (error) {
    log.warn("a dependency is not ready", { dependency: name, error });
    return timeout.signal.aborted ? `failed: no answer within ${timeoutMs} ms` : `failed: ${reasonOf(error)}`;
  } finally {
    clearTimeout(timer);
  }
}

/** Who asks for readiness needs no key, and a write costs: it is not tried again for so long after it succeeded. */
const WRITE_EVERY_MS = 30_000;

/** Reads where it has written a moment ago, and else writes: what only reads is not ready. */
export function readOrWrite(read: Check, write: Check, now: () => number = Date.now): Check {
  let writtenAt = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    if (now() - writtenAt < WRITE_EVERY_MS) return void (await read(signal));
    await write(signal);
    writtenAt = now();
  };
}

/**
 * Asks the database, one question at a time. The question is never cancelled: postgres.js drops a query that is
 * cancelled while its connection is being made, as while Aurora resumes, and that connection then takes no other one,
 * for good.
 */
export function databaseCheck(sql: Sql): Check {
  const question = readOrWrite(
    () => sql`select 1`,
    () => sql`insert into readiness (written_at) values (now()) on conflict (id) do update set written_at = now()`,
  );
  const unhurried = new AbortController().signal;
  let asked: Promise<unknown> | undefined;
  return async () => {
    asked ??= question(unhurried).finally(() => {
      asked = undefined;
    });
    await asked;
  };
}

/** The code or the name of the error: messages of clients may hold addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  return "code" in error && typeof error.code === "string" && error.code !== "" ? error.code : error.name;
}
