/** Generations of crawls: their history, and going back to one that is kept, and forward again. */
import { activateGeneration, lockActivations } from "../knowledge/documents/generations.ts";
import { inTransaction, type Sql, type Transaction } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { type LibraryDependencies, reembed, sendWaiting } from "./change-documents.ts";

/** `active`: something of it is visible; `kept`: it can be activated; `cleaned`: its documents are gone, or going. */
export type GenerationState = "active" | "kept" | "cleaned";

export interface Generation {
  id: string;
  job_id: string;
  collection_id: string | null;
  /** With port. */
  hosts: string[];
  /** Whether it replaced all crawled pages of its hosts, or only those of its URLs. */
  is_whole: boolean;
  state: GenerationState;
  /** That are visible. */
  visible_documents: number;
  /** That are there, visible or not; without deleted ones. */
  documents: number;
  first_activated_at: Date;
  activated_at: Date;
}

const SHOWN = `g.id, g.job_id, g.collection_id, g.hosts, g.is_whole, g.first_activated_at, g.activated_at,
  case when n.visible > 0 then 'active' when g.cleaned_at is null then 'kept' else 'cleaned' end as state,
  n.visible as visible_documents, n.documents
  from generations g cross join lateral (
    select count(*) filter (where d.generation_active)::int as visible, count(*)::int as documents
    from documents d where d.generation_id = g.id and d.deleted_at is null) n`;

export interface GenerationFilter {
  host?: string | undefined;
  collection_id?: string | undefined;
}

/**
 * Newest first.
 * @param after id of the last one seen
 */
export async function listGenerations(
  sql: Sql,
  { host, collection_id }: GenerationFilter,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<Generation[]> {
  return await sql<Generation[]>`
    select ${sql.unsafe(SHOWN)} where true
      ${host === undefined ? sql`` : sql`and g.hosts @> ${[host]}::text[]`}
      ${collection_id === undefined ? sql`` : sql`and g.collection_id = ${collection_id}`}
      ${after === undefined ? sql`` : sql`and g.id < ${after}`}
    order by g.id desc limit ${limit}`;
}

/** @throws ApiError 404 NOT_FOUND, 409 with what became of a generation that was never visible */
export async function readGeneration(sql: Sql | Transaction, id: string): Promise<Generation> {
  const [row] = await sql<Generation[]>`select ${sql.unsafe(SHOWN)} where g.id = ${id}`;
  if (row !== undefined) return row;
  const [job] = await sql<{ id: string; kind: string; status: string }[]>`
    select id, kind, status from jobs where generation_id = ${id}`;
  if (job === undefined) throw new ApiError(404, `There is no generation ${id}`, { code: "NOT_FOUND" });
  throw neverVisible(id, job);
}

function neverVisible(
  id: string,
  { id: job_id, kind, status }: { id: string; kind: string; status: string },
): ApiError {
  const details = { job_id, status };
  if (status === "failed" || status === "cancelled") {
    const message = `Generation ${id} was never visible: its job ${job_id} is ${status}`;
    return new ApiError(409, message, { code: "GENERATION_FAILED", details });
  }
  if (status === "completed") {
    const why = kind === "import" ? "uploads and imports keep no generations" : "its job made nothing searchable";
    return new ApiError(409, `Generation ${id} cannot be activated: ${why}`, { code: "GENERATION_NOT_KEPT", details });
  }
  const message = `Generation ${id} is not complete: its job ${job_id} activates it when it ends`;
  return new ApiError(409, message, { code: "GENERATION_RUNNING", details });
}

/**
 * Shows the documents of a generation again, in place of what has replaced them, in one transaction. What was deleted
 * or moved since stays so, uploads stay, and tags that people gave to the pages are on those that come back.
 * @throws ApiError as `readGeneration`; 409 GENERATION_CLEANED where its documents are gone
 */
export async function activateAgain(
  dependencies: Pick<LibraryDependencies, "sql" | "queues" | "log" | "flags">,
  id: string,
): Promise<Generation> {
  const { sql, flags } = dependencies;
  // maintenance decides what is kept now
  await flags.markActive();
  const { generation, waiting } = await inTransaction(sql, async (tx) => {
    await lockActivations(tx);
    const { job_id: jobId, collection_id: collectionId, hosts, is_whole } = await readGeneration(tx, id);
    const [row] = await tx<{ cleanedAt: Date | null }[]>`
      select cleaned_at as "cleanedAt" from generations where id = ${id} for no key update`;
    if (row === undefined || row.cleanedAt !== null) {
      throw new ApiError(409, `Generation ${id} was cleaned: crawl the site again, or keep more (GENERATIONS__KEPT)`, {
        code: "GENERATION_CLEANED",
      });
    }
    const hidden = await tx<{ id: string }[]>`
      select id from documents where generation_id = ${id} and not generation_active order by id`;
    const ids = hidden.map((each) => each.id);
    const tagged = await takeTags(tx, ids);
    await activateGeneration(tx, {
      ...{ jobId, generationId: id, collectionId, onlyNewer: false, keepsUploads: true },
      wholeHosts: is_whole ? hosts : [],
    });
    await tx`update generations set activated_at = now() where id = ${id}`;
    const outdated = await otherModels(tx, ids);
    await countWaiting(tx, jobId, id);
    const waiting = await reembed(tx, [...new Set([...tagged, ...outdated])]);
    return { generation: await readGeneration(tx, id), waiting };
  });
  await sendWaiting(dependencies, waiting);
  return generation;
}

/**
 * Gives documents the tags of those that they are going to replace, without the ones that all pages of the job had.
 * @returns ids of those that have new ones
 */
async function takeTags(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    insert into document_tags (document_id, tag_id)
    select d.id, dt.tag_id
    from documents d
      join documents_active now on now.url_hash = d.url_hash and now.collection_id is not distinct from d.collection_id
      join document_tags dt on dt.document_id = now.id join tags t on t.id = dt.tag_id
      left join jobs j on j.id = now.job_id
    where d.id = any(${ids as string[]}::uuid[]) and now.source = 'crawl' and not coalesce(j.settings->'tags' ? t.name, false)
    order by 1, 2 on conflict do nothing returning document_id as id`;
  return [...new Set(rows.map(({ id }) => id))];
}

/** Of these, the visible ones with vectors of a model that answers no searches. */
async function otherModels(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select distinct d.id from documents_active d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
    where d.id = any(${ids as string[]}::uuid[]) and e.state = 'done' and e.model is not null and exists (
      select from embedding_models m
      where m.state = 'serving' and (m.model <> e.model or m.dimension is distinct from e.dimension))`;
  return rows.map(({ id }) => id);
}

/** Chunks that were let go while nobody could see them are waited for again. */
async function countWaiting(tx: Transaction, jobId: string, generationId: string): Promise<void> {
  await tx`
    update jobs set unembedded_chunks = (
      select count(*) from documents d join chunks c on c.document_id = d.id join embeddings e on e.chunk_id = c.id
      where d.generation_id = ${generationId} and d.generation_active and e.state = 'pending')
    where id = ${jobId} and status = 'completed'`;
}
