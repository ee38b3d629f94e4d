/**
 * A database with pgvector, or with what stands in for it where its server lacks that: an extension of the same name,
 * written in SQL over the server's own functions. It has pgvector's type, lengths, text format, operator and index
 * clause; its index finds nothing sooner.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sql } from "../../shared/platform/database/database.ts";
import { testDatabase } from "./database.ts";

export interface PgVectorDatabase {
  url: string;
  sql: Sql;
  close(): Promise<void>;
}

export async function pgVectorDatabase(): Promise<PgVectorDatabase> {
  const { url, sql, destroy } = await testDatabase();
  const [real] = await sql`select from pg_available_extensions where name = 'vector'`;
  if (real !== undefined) return { url, sql, close: destroy };
  const directory = await mkdtemp(join(tmpdir(), "strandline-pgvector-"));
  const folder = join(directory, "extension");
  await mkdir(folder);
  await writeFile(join(folder, "vector.control"), "default_version = '0.8.0'\n");
  await writeFile(join(folder, "vector--0.8.0.sql"), EXTENSION);
  // the server runs as another user
  await chmod(directory, 0o755);
  await sql.unsafe(
    `alter database "${new URL(url).pathname.slice(1)}" set extension_control_path = '${directory}:$system'`,
  );
  const close = async () => {
    await destroy();
    await rm(directory, { recursive: true, force: true });
  };
  return { url, sql, close };
}

/** A vector is JSON inside, whose text is as pgvector's. */
const EXTENSION = `
create type vector;
create function vector_in(cstring, oid, integer) returns vector language internal immutable strict as 'jsonb_in';
create function vector_out(vector) returns cstring language internal immutable strict as 'jsonb_out';
create function vector_typmod_in(cstring[]) returns integer language internal immutable strict as 'varchartypmodin';
create type vector (input = vector_in, output = vector_out, typmod_in = vector_typmod_in, storage = extended);
create cast (vector as jsonb) without function;

create function vector(value vector, typmod integer, explicit boolean) returns vector language plpgsql immutable strict as $$
begin
  if typmod > 0 and jsonb_array_length(value::jsonb) <> typmod - 4 then
    raise exception 'expected % dimensions, not %', typmod - 4, jsonb_array_length(value::jsonb) using errcode = '22000';
  end if;
  return value;
end $$;
create cast (vector as vector) with function vector(vector, integer, boolean) as implicit;

create function cosine_distance(a vector, b vector) returns float8 language plpgsql immutable strict as $$
begin
  if jsonb_array_length(a::jsonb) <> jsonb_array_length(b::jsonb) then
    raise exception 'different vector dimensions' using errcode = '22000';
  end if;
  return (
    select 1 - sum(x * y) / sqrt(sum(x * x) * sum(y * y))
    from rows from (jsonb_array_elements_text(a::jsonb), jsonb_array_elements_text(b::jsonb)) as pair (x_text, y_text)
    cross join lateral (select x_text::float8 as x, y_text::float8 as y) numbers);
end $$;
create operator <=> (leftarg = vector, rightarg = vector, procedure = cosine_distance);

create function vector_hash(vector) returns integer language sql immutable strict as $$ select hashtext($1::text) $$;
create access method hnsw type index handler hashhandler;
create operator class vector_cosine_ops for type vector using hnsw as function 1 vector_hash(vector);
`;
