/** The PostgreSQL client. One connection per container by default: a Lambda container serves one event at a time. */
import postgres from "postgres";
import type { Config } from "./config.ts";
import { readPassword } from "./database-secret.ts";

export type Sql = postgres.Sql<Record<string, never>>;
export type Transaction = postgres.TransactionSql<Record<string, never>>;
/** What a query may run on: the pool, or a transaction. */
export type Queryable = Sql | Transaction;

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Secret whose `password` is asked for at each new connection, so that a rotation needs no restart. */
  secretArn?: string | undefined;
}

/** Above the ~15 s that a paused Aurora takes to resume. */
const CONNECT_TIMEOUT_S = 30;

/** The database that the configuration names. */
export function configuredDatabase(config: Config, poolSize: number = config.postgresPoolSize): Sql {
  return connectDatabase({ url: config.postgresUrl, poolSize, secretArn: config.postgresSecretArn || undefined });
}

export function connectDatabase({ url, poolSize, secretArn }: DatabaseOptions): Sql {
  return postgres(url, {
    ...(secretArn === undefined ? {} : { password: () => readPassword(secretArn) }),
    max: poolSize,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: 60,
    onnotice: () => {},
    connection: { application_name: "strandline" },
    // bigint identities stay below 2^53; numbers are what JSON answers hold
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  }) as unknown as Sql;
}
