/** The models whose vectors are stored: which one answers searches, and how far a change to another one is. */

import type { EmbeddingModel } from "../knowledge/embedding/model-change.ts";
import { noteSearchChange } from "../knowledge/search/search-version.ts";
import { inTransaction, type Sql, type Transaction } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";

export interface StoredModel extends EmbeddingModel {
  /** `serving`: it answers; `coming`: its vectors are made; `leaving`: its vectors are kept for a day. */
  state: "serving" | "coming" | "leaving";
  /** A change that goes on when somebody says so. */
  paused: boolean;
  changed_at: Date;
  /** Visible chunks whose newest vector is the model's. */
  chunks: number;
  /** Visible chunks that wait for a vector of the model; of the configured one alone. */
  waiting: number;
}

/** The one that answers first. */
export async function listModels(sql: Sql | Transaction, configured: EmbeddingModel | null): Promise<StoredModel[]> {
  return await sql<StoredModel[]>`
    with counted as (
      select e.model, e.dimension, count(*) filter (where e.state = 'done')::int as chunks,
        count(*) filter (where e.state = 'pending')::int as waiting
      from documents_active d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
      where e.state in ('done', 'pending') group by e.model, e.dimension)
    select m.model, m.dimension, m.state, m.paused, m.changed_at,
      coalesce((select sum(chunks)::int from counted n where n.model = m.model and n.dimension = m.dimension), 0) as chunks,
      case when (m.model, m.dimension) = (${configured?.model ?? null}::text, ${configured?.dimension ?? null}::int)
        then coalesce((select sum(waiting)::int from counted), 0) else 0 end as waiting
    from embedding_models m order by array_position(array['serving', 'coming', 'leaving'], m.state), m.changed_at desc`;
}

/**
 * Stops the change to another model where it is, or lets it go on. What was sent already is embedded.
 * @throws ApiError 409 CONFLICT where no change is under way
 */
export async function pauseChange(sql: Sql, paused: boolean): Promise<void> {
  const { count } = await sql`update embedding_models set paused = ${paused} where state = 'coming'`;
  if (count > 0) return;
  throw new ApiError(409, "No change of the embedding model is under way: configure another model first", {
    code: "CONFLICT",
  });
}

/**
 * Has a model answer again whose vectors are kept, in one transaction. The one that answered until then is paused, and
 * keeps its vectors. Documents that came since have none of the model's: keywords find them.
 * @throws ApiError 404 NOT_FOUND, 409 CONFLICT where its vectors are not whole
 */
export async function goBackToModel(sql: Sql, { model, dimension }: EmbeddingModel): Promise<void> {
  await inTransaction(sql, async (tx) => {
    const rows = await tx<Pick<StoredModel, "model" | "dimension" | "state">[]>`
      select model, dimension, state from embedding_models order by model, dimension for update`;
    const wanted = rows.find((each) => each.model === model && each.dimension === dimension);
    if (wanted === undefined) {
      const message = `There are no vectors of ${model} with ${dimension} numbers`;
      throw new ApiError(404, message, { code: "NOT_FOUND" });
    }
    if (wanted.state === "serving") return;
    if (wanted.state === "coming") {
      const message = "Vectors of this model are still made: it answers by itself once it has all of them";
      throw new ApiError(409, message, { code: "CONFLICT" });
    }
    await tx`update embedding_models set state = 'leaving', paused = false, changed_at = now() where state = 'coming'`;
    await tx`update embedding_models set state = 'coming', paused = true, changed_at = now() where state = 'serving'`;
    await tx`
      update embedding_models set state = 'serving', paused = false, changed_at = now()
      where model = ${model} and dimension = ${dimension}`;
    await noteSearchChange(tx);
  });
}
