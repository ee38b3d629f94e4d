/**
 * Deletes, restores, moves and tags documents. What was changed holds for every search when this resolves: rows decide
 * what is visible, and a vector that carries an old collection or tag is made anew.
 */
import type { CollectionDefaults } from "../crawl/settings/collection-defaults.ts";
import { holdChunkSets } from "../knowledge/documents/chunk-sets.ts";
import { holdActivations } from "../knowledge/documents/generations.ts";
import { sendEmbedTasks } from "../knowledge/embedding/embed-task.ts";
import { askAgain } from "../knowledge/embedding/model-change.ts";
import type { VectorStore } from "../knowledge/vector-stores/vector-store.ts";
import type { QueueSender } from "../platform/aws/queues.ts";
import { inTransaction, isUniqueViolation, type Sql, type Transaction } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import type { Logger } from "../platform/observability/log.ts";
import { type CollectionLimit, isWithin } from "./collection-limit.ts";
import { recutDocuments, type Waiting } from "./recut-documents.ts";
import { lockDocuments, missingDocument } from "./stored-documents.ts";
import { ensureTags } from "./tags.ts";

export interface LibraryDependencies {
  sql: Sql;
  /** Of whoever asks: what it does not hold is as what does not exist. */
  limit: CollectionLimit;
  queues: QueueSender;
  log: Logger;
  flags: { markActive(): Promise<void> };
  /** Resolves to null where embeddings are switched off. */
  vectors(): Promise<Pick<VectorStore, "deleteDocuments" | "deletePoints"> | null>;
}

/** What became of each document of a request. */
export interface Changed {
  changed: string[];
  failed: { document_id: string; code: "NOT_FOUND" | "CONFLICT"; error: string }[];
}

const NO_COLLECTION = "00000000-0000-0000-0000-000000000000";

/**
 * Hides documents, removes their vectors, and has no crawl bring their URLs back.
 * @param forGood whether they cannot be restored
 */
export async function deleteDocuments(
  { sql, vectors, log, limit }: Pick<LibraryDependencies, "sql" | "vectors" | "log" | "limit">,
  ids: readonly string[],
  forGood = false,
): Promise<Changed> {
  const found = await inTransaction(sql, async (tx) => {
    await holdActivations(tx);
    const documents = await lockDocuments(tx, ids, limit);
    const there = documents.filter(({ deleted_at }) => forGood || deleted_at === null).map(({ id }) => id);
    if (there.length === 0) return [];
    await tx`
      insert into removed_urls (url_hash, collection_id)
      select distinct url_hash, coalesce(collection_id, ${NO_COLLECTION}) from documents where id = any(${there}::uuid[])
      order by 1, 2 on conflict do nothing`;
    if (forGood) {
      await tx`
        update documents set generation_active = false, generation_id = gen_random_uuid(), updated_at = now()
        where id = any(${there}::uuid[])`;
    } else {
      await tx`
        update documents set deleted_at = now(), updated_at = now() where id = any(${there}::uuid[])`;
    }
    return there;
  });
  try {
    const store = found.length === 0 ? null : await vectors();
    if (store !== null) {
      await inTransaction(sql, async (tx) => {
        // whoever restores one waits, and has its vectors made after these are gone
        const rows = await tx<{ id: string; isGone: boolean }[]>`
          select id, deleted_at is not null or not generation_active as "isGone" from documents
          where id = any(${found}::uuid[]) order by id for no key update`;
        await store.deleteDocuments(rows.filter(({ isGone }) => isGone).map(({ id }) => id));
      });
    }
  } catch (error) {
    // no search shows what has no visible row; maintenance removes what is left
    log.warn("the vectors of deleted documents stay until maintenance", { error, documents: found.length });
  }
  return outcome(ids, found);
}

/**
 * Shows deleted documents again; their vectors follow.
 * @throws ApiError 404 NOT_FOUND, 409 CONFLICT where another document of the URL has taken its place
 */
export async function restoreDocument(dependencies: LibraryDependencies, id: string): Promise<void> {
  const { sql, limit } = dependencies;
  await dependencies.flags.markActive();
  const again = await inTransaction(sql, async (tx) => {
    await holdActivations(tx);
    const [document] = await lockDocuments(tx, [id], limit);
    if (document === undefined) throw missingDocument(id);
    if (document.deleted_at === null) return [];
    await unlessTaken(tx`update documents set deleted_at = null, updated_at = now() where id = ${id}`, document.url);
    await tx`
      delete from removed_urls r using documents d
      where d.id = ${id} and r.url_hash = d.url_hash and r.collection_id = coalesce(d.collection_id, ${NO_COLLECTION})`;
    return await reembed(tx, [id]);
  });
  await sendWaiting(dependencies, again);
}

async function unlessTaken(update: Promise<unknown>, url: string): Promise<void> {
  try {
    await update;
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new ApiError(409, `Another document of ${url} has taken its place: delete that one first`, {
      code: "CONFLICT",
      cause,
    });
  }
}

/**
 * Moves documents into a collection, or out of all; one whose URL is there already stays where it is.
 * @param collectionId null: out of all
 * @param from only those that are in this collection
 */
export async function moveDocuments(
  dependencies: LibraryDependencies,
  ids: readonly string[],
  collectionId: string | null,
  from?: string,
): Promise<Changed> {
  const { sql, limit } = dependencies;
  await dependencies.flags.markActive();
  const { found, moved, again } = await inTransaction(sql, async (tx) => {
    await holdActivations(tx);
    if (collectionId !== null) {
      // it is not deleted meanwhile
      const [collection] = await tx`select from collections where id = ${collectionId} for key share`;
      if (collection === undefined || !isWithin(collectionId, limit)) {
        throw new ApiError(404, `There is no collection ${collectionId}`, { code: "NOT_FOUND" });
      }
    }
    const locked = await lockDocuments(tx, ids, limit);
    const there = locked
      .filter((each) => each.deleted_at === null && (from === undefined || each.collection_id === from))
      .map(({ id }) => id);
    const rows = await tx<{ id: string }[]>`
      update documents d set collection_id = ${collectionId}, updated_at = now()
      where id in (
          select distinct on (url_hash) id from documents where id = any(${there}::uuid[]) order by url_hash, id desc)
        and d.collection_id is distinct from ${collectionId}::uuid and not exists (
          select from documents_active o where o.id <> d.id and o.url_hash = d.url_hash
            and o.collection_id is not distinct from ${collectionId}::uuid)
      returning id`;
    const changed = rows.map(({ id }) => id);
    const same = locked.filter((each) => there.includes(each.id) && each.collection_id === collectionId);
    return {
      found: there,
      moved: [...changed, ...same.map(({ id }) => id)],
      again: await reembed(tx, changed),
    };
  });
  await sendWaiting(dependencies, again);
  const stayed = new Set(found.filter((id) => !moved.includes(id)));
  const { changed, failed } = outcome(ids, moved);
  return {
    changed,
    failed: failed.map((each) =>
      stayed.has(each.document_id)
        ? { ...each, code: "CONFLICT", error: "Another document of its URL is there already" }
        : each,
    ),
  };
}

/** @param add names in lower case; their rows are made where they are missing */
export async function tagDocuments(
  dependencies: LibraryDependencies,
  ids: readonly string[],
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
): Promise<Changed> {
  await dependencies.flags.markActive();
  const { found, again } = await inTransaction(dependencies.sql, async (tx) => {
    await ensureTags(tx, add);
    const there = (await lockDocuments(tx, ids, dependencies.limit))
      .filter((each) => each.deleted_at === null)
      .map(({ id }) => id);
    const added = await tx<{ id: string }[]>`
      insert into document_tags (document_id, tag_id)
      select d.id, t.id from unnest(${there}::uuid[]) d (id) cross join tags t where t.name = any(${add as string[]}::text[])
      order by 1, 2 on conflict do nothing returning document_id as id`;
    const removed = await tx<{ id: string }[]>`
      delete from document_tags dt using tags t
      where t.id = dt.tag_id and dt.document_id = any(${there}::uuid[])
        and (t.name = any(${remove as string[]}::text[]) or t.id::text = any(${remove as string[]}::text[]))
      returning dt.document_id as id`;
    const changed = [...new Set([...added, ...removed].map(({ id }) => id))];
    return { found: there, again: await reembed(tx, changed) };
  });
  await sendWaiting(dependencies, again);
  return outcome(ids, found);
}

/** Makes the vectors of documents anew, by the model that is configured. */
export async function reindexDocuments(dependencies: LibraryDependencies, ids: readonly string[]): Promise<Changed> {
  await dependencies.flags.markActive();
  const { found, again } = await inTransaction(dependencies.sql, async (tx) => {
    const there = (await lockDocuments(tx, ids, dependencies.limit))
      .filter((each) => each.deleted_at === null)
      .map(({ id }) => id);
    return { found: there, again: await reembed(tx, there) };
  });
  await sendWaiting(dependencies, again);
  return outcome(ids, found);
}

/** Documents that one request sees to at the most, and for how long it begins with more of them. */
const REINDEXED_AT_ONCE = 200;
const REINDEXING_MS = 12_000;
/** Documents of a transaction: one may have 2,000 chunks, all of whose words are read. */
const TOGETHER = 10;

/**
 * Cuts documents of a collection anew where they are not as its defaults say by now, in the order of their ids; for the
 * others it does as `reindexDocuments`.
 * @param maxTokens what the embedder reads; null where there is none
 * @param after id of the last document seen; undefined: from the first on
 * @returns how many it saw to and how many of them it cut, and the id to go on after; null: that were all
 */
export async function reindexCollection(
  dependencies: LibraryDependencies,
  { collectionId, maxTokens, after }: { collectionId: string; maxTokens: number | null; after: string | undefined },
): Promise<{ documents: number; recut: number; last: string | null }> {
  const { sql } = dependencies;
  await dependencies.flags.markActive();
  const endsAt = performance.now() + REINDEXING_MS;
  const rows = await sql<{ id: string }[]>`
    select id from documents_active
    where collection_id = ${collectionId} ${after === undefined ? sql`` : sql`and id > ${after}`}
    order by id limit ${REINDEXED_AT_ONCE + 1}`;
  const ids = rows.slice(0, REINDEXED_AT_ONCE).map(({ id }) => id);
  const done = { documents: 0, recut: 0 };
  for (let at = 0; at < ids.length; at += TOGETHER) {
    if (at > 0 && performance.now() > endsAt) return { ...done, last: ids[at - 1] as string };
    const some = await reindexTogether(dependencies, collectionId, ids.slice(at, at + TOGETHER), maxTokens);
    done.documents += some.documents;
    done.recut += some.recut;
  }
  return { ...done, last: rows.length > REINDEXED_AT_ONCE ? (ids.at(-1) ?? null) : null };
}

async function reindexTogether(
  dependencies: LibraryDependencies,
  collectionId: string,
  ids: readonly string[],
  maxTokens: number | null,
): Promise<{ documents: number; recut: number }> {
  const { sql, vectors, log } = dependencies;
  const { there, cut, again } = await inTransaction(sql, async (tx) => {
    await holdChunkSets(tx);
    await holdActivations(tx);
    const [collection] = await tx<{ defaults: CollectionDefaults }[]>`
      select defaults from collections where id = ${collectionId} for key share`;
    const locked = await lockDocuments(tx, ids, dependencies.limit);
    const there = locked
      .filter((each) => each.deleted_at === null && each.collection_id === collectionId)
      .map(({ id }) => id);
    const cut = await recutDocuments(tx, there, collection?.defaults ?? {}, maxTokens);
    const again = await reembed(
      tx,
      there.filter((id) => !cut.recut.includes(id)),
    );
    return { there, cut, again };
  });
  try {
    if (cut.gone.length > 0) await (await vectors())?.deletePoints(cut.gone);
  } catch (error) {
    // no search shows what has no row; reconciling removes what is left
    log.warn("the vectors of chunks that are gone stay until maintenance", { error, chunks: cut.gone.length });
  }
  await sendWaiting(dependencies, [...again, ...cut.waiting]);
  return { documents: there.length, recut: cut.recut.length };
}

/**
 * Has the chunks of documents wait for a vector; what no job counts is left alone. A chunk that is being embedded is
 * waited for, or has its embedder see what has changed.
 */
export async function reembed(tx: Transaction, documentIds: readonly string[]): Promise<Waiting[]> {
  if (documentIds.length === 0) return [];
  const chunks = await tx<{ jobId: string; chunkId: string; state: string }[]>`
    select d.job_id as "jobId", c.id as "chunkId", e.state from documents d join chunks c on c.document_id = d.id
      join embeddings e on e.chunk_id = c.id
    where d.id = any(${documentIds as string[]}::uuid[]) and d.job_id is not null and e.state in ('done', 'pending')
    order by e.chunk_id for no key update of e`;
  const rows = chunks.filter(({ state }) => state === "done");
  await askAgain(
    tx,
    rows.map(({ chunkId }) => chunkId),
  );
  const byJob = Map.groupBy(rows, ({ jobId }) => jobId);
  return [...byJob].map(([jobId, ofJob]) => ({ jobId, chunkIds: ofJob.map(({ chunkId }) => chunkId) }));
}

/** Asks for the vectors of chunks that wait; what cannot be sent now the sweep sends. */
export async function sendWaiting(
  dependencies: Pick<LibraryDependencies, "queues" | "log">,
  waiting: readonly Waiting[],
): Promise<void> {
  for (const { jobId, chunkIds } of waiting) {
    await sendEmbedTasks(dependencies, { jobId, priority: "high" }, chunkIds);
  }
}

function outcome(ids: readonly string[], changed: readonly string[]): Changed {
  const done = new Set(changed);
  return {
    changed: [...done],
    failed: [...new Set(ids)]
      .filter((id) => !done.has(id))
      .map((document_id) => ({
        document_id,
        code: "NOT_FOUND",
        error: "There is no such document: it may have been deleted, or replaced by a newer one of its URL",
      })),
  };
}
