/** Writes every table as it was at one moment: in one transaction that sees nothing of what comes meanwhile. */
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Sql, Transaction } from "../platform/database/database.ts";
import type { BackupStore } from "./backup-store.ts";
import { writeField } from "./copy-text.ts";
import { DATABASE, type Manifest, type TableFile } from "./manifest.ts";
import { type ReplaceSecret, type RowsWithoutSecrets, secretsOfRows } from "./secrets.ts";
import { readSchema, readSequences, readTables, type SavedTable } from "./tables.ts";
import { writeFile } from "./written-file.ts";

export interface SavedDatabase
  extends Pick<Manifest, "created_at" | "schema" | "tables" | "tables_left_out" | "sequences"> {
  withoutSecrets: RowsWithoutSecrets;
  /** Keys of objects that rows speak of. */
  referenced: Set<string>;
}

/**
 * @param run a folder of this name is made for it, so that those of a back-up before stay
 * @param onTable told of each table that is written
 */
export async function saveDatabase(
  sql: Sql,
  store: BackupStore,
  { run, replace, onTable }: { run: string; replace: ReplaceSecret; onTable?: (table: TableFile) => void },
): Promise<SavedDatabase> {
  const saved = await sql.begin("isolation level repeatable read read only", async (tx): Promise<SavedDatabase> => {
    // the first statement takes the snapshot
    const [begun] = await tx<{ at: Date }[]>`select now() as at`;
    // a slow disk or bucket makes this a long transaction
    await tx`select set_config('statement_timeout', '0', true)`;
    const found = await readTables(tx);
    const tables: TableFile[] = [];
    const withoutSecrets: RowsWithoutSecrets = new Map();
    for (const table of found.saved) {
      const file = await saveTable(tx, store, table, { run, replace, withoutSecrets });
      tables.push(file);
      onTable?.(file);
    }
    return {
      created_at: (begun?.at ?? new Date()).toISOString(),
      schema: await readSchema(tx),
      tables,
      tables_left_out: found.left,
      sequences: await readSequences(tx),
      withoutSecrets,
      referenced: await readReferenced(tx, new Set(found.saved.map(({ name }) => name))),
    };
  });
  return saved as SavedDatabase;
}

const ROWS_PER_READ = 200;

async function saveTable(
  tx: Transaction,
  store: BackupStore,
  { name, columns }: SavedTable,
  to: { run: string; replace: ReplaceSecret; withoutSecrets: RowsWithoutSecrets },
): Promise<TableFile> {
  let rows = 0;
  const change = secretsOfRows(name, columns, to.replace, to.withoutSecrets);
  const listed = columns.map((column) => `"${column}"::text`).join(", ");
  // a cursor can be closed where the back-up fails; COPY's stream blocks the connection until it was read to its end
  const found = tx.unsafe<(string | null)[][]>(`select ${listed} from "${name}"`).values();
  async function* lines(): AsyncGenerator<Uint8Array> {
    for await (const read of found.cursor(ROWS_PER_READ)) {
      rows += read.length;
      const fields = read.map((row) => ([...row] as (string | null)[]).map(writeField));
      const text = fields.map((each) => `${(change?.(each) ?? each).join("\t")}\n`).join("");
      if (text !== "") yield Buffer.from(text);
    }
  }
  const gzip = createGzip();
  const feeding = pipeline(lines, gzip);
  try {
    const [file] = await Promise.all([writeFile(store, `${DATABASE}/${to.run}/${name}.copy.gz`, gzip), feeding]);
    return { name, columns, rows, ...file };
  } catch (error) {
    // which closes the cursor: until then the connection takes no other statement, not even a rollback
    gzip.destroy();
    await feeding.catch(() => undefined);
    throw error;
  }
}

/** Columns that name objects which are to be there. */
const REFERENCES: Readonly<Record<string, string>> = {
  captures: "select distinct warc_key as key from captures where warc_key is not null",
  warc_files: "select key from warc_files where deleted_at is null and removed_at is null",
  exports: "select object_key as key from exports where status = 'completed' and object_key is not null",
  warc_imports: "select object_key as key from warc_imports where status in ('pending', 'running', 'completed')",
  edition_previews: "select object_key as key from edition_previews where object_key is not null",
};

async function readReferenced(tx: Transaction, tables: ReadonlySet<string>): Promise<Set<string>> {
  const keys = new Set<string>();
  for (const [table, query] of Object.entries(REFERENCES)) {
    if (!tables.has(table)) continue;
    for await (const rows of tx.unsafe<{ key: string }[]>(query).cursor(1_000))
      for (const { key } of rows) keys.add(key);
  }
  return keys;
}
