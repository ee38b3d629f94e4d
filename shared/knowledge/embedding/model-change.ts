/**
 * A change of the embedding model: the vectors of the one before answer searches until each visible chunk has one of
 * the new model. They stay for a day, in which one can go back to them. Chunks are embedded anew as those of jobs are:
 * their rows wait, their jobs count them, and the sweep sends them.
 */
import { inTransaction, type Queryable, type Sql, type Transaction } from "../../platform/database/database.ts";
import type { EmbedderDescriptor } from "../embedders/embedder.ts";
import { noteSearchChange } from "../search/search-version.ts";

export type EmbeddingModel = Pick<EmbedderDescriptor, "model" | "dimension">;

/** Chunks that are asked for in one transaction. */
const BATCH = 2_000;

/**
 * Asks for vectors of the configured model where visible chunks have another's, and lets it answer searches once none
 * has; not while the change is paused.
 * @param hasTime asked before each batch
 * @returns how many chunks were asked for
 */
export async function changeModel(sql: Sql, configured: EmbeddingModel, hasTime: () => boolean): Promise<number> {
  const serving = await servingModel(sql);
  if (serving === undefined) {
    await sql`
      insert into embedding_models (model, dimension, state) values (${configured.model}, ${configured.dimension}, 'serving')
      on conflict do nothing`;
    return 0;
  }
  const isServing = serving.model === configured.model && serving.dimension === configured.dimension;
  if (isServing ? !(await isGivenUp(sql, configured)) : await isPaused(sql, configured)) return 0;
  let asked = 0;
  while (hasTime()) {
    const ids = await visibleChunks(sql, configured, BATCH);
    if (ids.length === 0) break;
    asked += await inTransaction(sql, (tx) => askAgain(tx, ids));
  }
  if (asked > 0 || !hasTime()) return asked;
  if (isServing) await sql`update embedding_models set state = 'leaving', changed_at = now() where state = 'coming'`;
  else await serveIfWhole(sql, serving, configured);
  return 0;
}

/** Begins the change where nobody has. */
async function isPaused(sql: Sql, { model, dimension }: EmbeddingModel): Promise<boolean> {
  return await inTransaction(sql, async (tx) => {
    await tx`
      update embedding_models set state = 'leaving', changed_at = now()
      where state = 'coming' and (model, dimension) <> (${model}, ${dimension}::int)`;
    const [coming] = await tx<{ paused: boolean }[]>`
      insert into embedding_models as m (model, dimension, state) values (${model}, ${dimension}, 'coming')
      on conflict (model, dimension) do update set state = 'coming',
        changed_at = case when m.state = 'coming' then m.changed_at else now() end
      returning paused`;
    return coming?.paused === true;
  });
}

/** Whether a change to another model has begun and is wanted no more. */
async function isGivenUp(sql: Sql, { model, dimension }: EmbeddingModel): Promise<boolean> {
  const [other] = await sql`
    select from embedding_models where state = 'coming' and (model, dimension) <> (${model}, ${dimension}::int)`;
  return other !== undefined;
}

export async function servingModel(sql: Sql): Promise<EmbeddingModel | undefined> {
  const [row] = await sql<EmbeddingModel[]>`select model, dimension from embedding_models where state = 'serving'`;
  return row;
}

/** Of a row `e` of embeddings: another model made it, or the same one with vectors of another length. */
export const madeByAnother = (sql: Queryable, { model, dimension }: EmbeddingModel) =>
  sql`(e.model <> ${model} or e.dimension is distinct from ${dimension})`;

/** Chunks of completed jobs that are done with, by another model. */
async function visibleChunks(sql: Sql, configured: EmbeddingModel, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select e.chunk_id as id
    from embeddings e join chunks c on c.id = e.chunk_id join documents d on d.id = c.document_id
      join jobs j on j.id = d.job_id
    where e.state = 'done' and ${madeByAnother(sql, configured)} and d.generation_active and d.deleted_at is null
      and j.status = 'completed'
    limit ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * Has chunks that are done with wait for a vector once more. The row keeps the model that it had.
 * @returns how many wait now
 */
export async function askAgain(tx: Transaction, chunkIds: readonly string[]): Promise<number> {
  const rows = await tx<{ chunks: number }[]>`
    with again as (
      update embeddings e set state = 'pending', attempts = 0 from chunks c, documents d, jobs j
      where e.chunk_id = any(${chunkIds as string[]}::uuid[]) and e.state = 'done' and c.id = e.chunk_id
        and d.id = c.document_id and d.generation_active and j.id = d.job_id and j.status = 'completed'
      returning j.id as job_id)
    update jobs set unembedded_chunks = unembedded_chunks + a.chunks
    from (select job_id, count(*)::int as chunks from again group by job_id) a where jobs.id = a.job_id
    returning a.chunks`;
  return rows.reduce((sum, { chunks }) => sum + chunks, 0);
}

/** Chunks of jobs that still run are not visible, and those that no model could embed want nothing more. */
async function serveIfWhole(sql: Sql, before: EmbeddingModel, configured: EmbeddingModel): Promise<void> {
  await inTransaction(sql, async (tx) => {
    const [left] = await tx`
      select from jobs j where j.status = 'completed' and j.unembedded_chunks > 0 and exists (
        select from documents d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
        where d.job_id = j.id and d.generation_active and e.state = 'pending' and ${madeByAnother(tx, configured)})
      limit 1`;
    if (left !== undefined) return;
    const [coming] = await tx`
      select from embedding_models
      where model = ${configured.model} and dimension = ${configured.dimension} and state = 'coming' and not paused
      for update`;
    // it was paused, or gone back from, a moment ago
    if (coming === undefined) return;
    await tx`
      update embedding_models set state = 'leaving', changed_at = now()
      where model = ${before.model} and dimension = ${before.dimension}`;
    await tx`
      update embedding_models set state = 'serving', changed_at = now()
      where model = ${configured.model} and dimension = ${configured.dimension}`;
    await noteSearchChange(tx);
  });
}

/** So long one can go back to a model that was replaced: its vectors stay. */
const KEPT_FOR = "1 day";

/**
 * Removes the vectors of models that answer no more; not those of the configured one, which are made anew.
 * @param drop removes all vectors of a model
 * @returns how many models went
 */
export async function dropLeavingModels(
  sql: Sql,
  configured: EmbeddingModel,
  drop: (model: EmbeddingModel) => Promise<void>,
): Promise<number> {
  const leaving = await sql<EmbeddingModel[]>`
    select model, dimension from embedding_models
    where state = 'leaving' and (model, dimension) <> (${configured.model}, ${configured.dimension}::int)
      and changed_at < now() - ${KEPT_FOR}::interval`;
  for (const model of leaving) {
    await drop(model);
    await sql`
      delete from embedding_models
      where model = ${model.model} and dimension = ${model.dimension} and state = 'leaving'`;
  }
  return leaving.length;
}
