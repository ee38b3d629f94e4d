/** The PostgreSQL client. One connection per container by default: a Lambda container serves one event at a time. */
import postgres from "postgres";
import type { Config } from "../config.ts";
import { arrayTypes } from "./arrays.ts";
import { createAuthToken } from "./auth-token.ts";
import { createConnections } from "./connections.ts";

export type Sql = postgres.Sql<Record<string, never>>;
export type Transaction = postgres.TransactionSql<Record<string, never>>;
/** What a query may run on: the pool, or a transaction. */
export type Queryable = Sql | Transaction;

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Longest wait for a connection. */
  connectTimeoutS?: number | undefined;
  /** `iam`: by a token, made for each new connection. By the password of the URL where left out. */
  auth?: Config["postgresAuth"] | undefined;
}

const DEFAULT_CONNECT_TIMEOUT_S = 30;

/**
 * A frozen Lambda container cannot close its connection, and Aurora does not pause while one is open: the server closes
 * it.
 */
const IDLE_SESSION_MS = 300_000;

/** By what they were asked with: the functions that share a thread of the local runtime share its connection too. */
const configured = new Map<string, Sql>();

/** The database that the configuration names: one pool per container, which nobody ends. */
export function configuredDatabase(config: Config): Sql {
  const options = databaseOf(config);
  const key = JSON.stringify(options);
  const known = configured.get(key);
  if (known !== undefined) return known;
  const sql = connectDatabase(options);
  configured.set(key, sql);
  return sql;
}

export const databaseOf = (config: Config): DatabaseOptions => ({
  url: config.postgresUrl,
  poolSize: config.postgresPoolSize,
  connectTimeoutS: config.postgresConnectTimeoutS,
  auth: config.postgresAuth,
});

export function connectDatabase({ url, poolSize, connectTimeoutS, auth }: DatabaseOptions): Sql {
  return createConnections(url, poolSize, {
    ...(auth === "iam" ? { password: () => createAuthToken(url) } : {}),
    connect_timeout: connectTimeoutS ?? DEFAULT_CONNECT_TIMEOUT_S,
    idle_timeout: 60,
    onnotice: () => {},
    connection: { application_name: "strandline", idle_session_timeout: IDLE_SESSION_MS },
    // bigint identities stay below 2^53; numbers are what JSON answers hold
    types: { ...arrayTypes, bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    fetch_types: false,
  });
}

/** Deadlock, serialisation failure: PostgreSQL undid the transaction, and the same work may be done again. */
const UNDONE = new Set(["40P01", "40001"]);
const MAX_TRIES = 5;

/** What waits for the commit, by transaction. */
const WAITING = new WeakMap<Transaction, (() => void)[]>();

/**
 * Calls `act` once the transaction has committed, and never where it is undone.
 * @param tx of `inTransaction`
 */
export function afterCommit(tx: Transaction, act: () => void): void {
  const acts = WAITING.get(tx);
  if (acts === undefined) throw new Error("Only a transaction of inTransaction knows of its commit");
  acts.push(act);
}

/** Runs `work` in a transaction; once more where PostgreSQL had to undo it in favour of another. */
export async function inTransaction<T>(sql: Sql, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const acts: (() => void)[] = [];
    try {
      const result = await sql.begin(async (tx) => {
        WAITING.set(tx, acts);
        return await work(tx);
      });
      for (const act of acts) act();
      return result as T;
    } catch (error) {
      const undone = error instanceof postgres.PostgresError && UNDONE.has(error.code);
      if (!undone || attempt === MAX_TRIES) throw error;
    }
  }
}

/** Cancels each later statement of the transaction that takes longer. */
export async function limitStatements(tx: Transaction, timeoutMs: number): Promise<void> {
  await tx`select set_config('statement_timeout', ${String(Math.floor(timeoutMs))}, true)`;
}

/** Its SQLSTATE; undefined where it is no error of PostgreSQL. */
export function databaseErrorCode(error: unknown): string | undefined {
  return error instanceof postgres.PostgresError ? error.code : undefined;
}

/** Whether a statement took longer than it may. */
export function isOutOfTime(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "57014";
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "23505";
}

/** A value that PostgreSQL refuses (SQLSTATE classes 22, 23 and 54): the same statement would fail again. */
export function isRefusedData(error: unknown): boolean {
  return error instanceof postgres.PostgresError && /^(22|23|54)/.test(error.code);
}
