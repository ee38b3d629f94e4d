/** The PostgreSQL client. One connection per container by default: a Lambda container serves one event at a time. */
import postgres from "postgres";

export type Sql = postgres.Sql<Record<string, never>>;
export type Transaction = postgres.TransactionSql<Record<string, never>>;
/** What a query may run on: the pool, or a transaction. */
export type Queryable = Sql | Transaction;

export interface DatabaseOptions {
  url: string;
  poolSize: number;
}

/** Above the ~15 s that a paused Aurora takes to resume. */
const CONNECT_TIMEOUT_S = 30;

export function connectDatabase({ url, poolSize }: DatabaseOptions): Sql {
  return postgres(url, {
    max: poolSize,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: 60,
    onnotice: () => {},
    connection: { application_name: "strandline" },
    // bigint identities stay below 2^53; numbers are what JSON answers hold
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  }) as unknown as Sql;
}
