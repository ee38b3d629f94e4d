/** Tells a store that has no vectors yet from one that has lost them: the rows say which chunks were embedded. */
import type { Sql, Transaction } from "../../platform/database/database.ts";
import { RetryableError } from "../../platform/errors.ts";
import type { EmbedderDescriptor } from "../embedders/embedder.ts";
import type { VectorStore } from "../vector-stores/vector-store.ts";
import { filterDocuments, type SearchFilter } from "./search-filter.ts";

type StoredModel = Pick<EmbedderDescriptor, "model" | "dimension">;

/**
 * To be asked where a store gave nothing for a search.
 * @throws RetryableError VECTOR_STORE_EMPTY, or VECTORS_OF_ANOTHER_MODEL, where visible chunks were embedded
 */
export async function explainNoHits(tx: Transaction, wanted: StoredModel, filter: SearchFilter = {}): Promise<void> {
  const { model, dimension } = wanted;
  const embedded = (by: "same" | "other") => tx`
    exists (
      select from documents_active d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
      where e.state in ('done', 'pending') and e.model is not null ${filterDocuments(tx, filter)}
        and (e.model = ${model} and e.dimension is not distinct from ${dimension}) = ${by === "same"})`;
  const [held] = await tx<{ same: boolean; other: boolean }[]>`
    select ${embedded("same")} as same, ${embedded("other")} as other`;
  if (held?.same) {
    throw new RetryableError("The vector store is empty, although chunks were embedded: they are embedded again", {
      code: "VECTOR_STORE_EMPTY",
    });
  }
  if (held?.other) {
    throw new RetryableError("The vector store has no vectors of the configured model: they are made", {
      code: "VECTORS_OF_ANOTHER_MODEL",
    });
  }
}

/** Whether vectors are to be made: they are lost, or of another model. Maintenance and the sweep see to it. */
export const wantsVectors = (code: unknown): boolean =>
  code === "VECTOR_STORE_EMPTY" || code === "VECTORS_OF_ANOTHER_MODEL";

/** @throws RetryableError where the store does not answer, or has lost what the rows say it holds */
export async function checkVectors(
  sql: Sql,
  model: StoredModel,
  vectors: VectorStore,
  signal: AbortSignal,
): Promise<void> {
  await vectors.check(signal);
  if (await vectors.isEmpty(signal)) await sql.begin("read only", (tx) => explainNoHits(tx, model));
}
