/**
 * Generations: a job writes its documents unseen, and one transaction makes them all visible and hides what they
 * replace. Readers go through `documents_active`, so they see the complete old set or the complete new set.
 */
import type { Transaction } from "../../platform/database/database.ts";
import { uuidv7 } from "../../platform/ids.ts";

/** Any constant: activations run one at a time under it, since two of them may replace the same documents. */
const ACTIVATION_LOCK = 7_263_482;

/**
 * Waits for activations, and keeps others from beginning until the transaction ends: to be called before the first row
 * is locked by whoever decides which documents are visible.
 */
export async function holdActivations(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(${ACTIVATION_LOCK})`;
}

/** As `holdActivations`, for one that activates or decides which generations stay: one at a time. */
export async function lockActivations(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${ACTIVATION_LOCK})`;
}

export interface Activation {
  jobId: string;
  generationId: string;
  collectionId: string | null;
  /**
   * The hosts (with port) whose crawled documents are all replaced; where there are none, only the job's own URLs are.
   */
  wholeHosts: readonly string[];
  /** Whether a document stays that is newer than the one of its URL in the generation, which then stays unseen. */
  onlyNewer: boolean;
  /** Whether documents that people uploaded stay, and the generation's of their URLs unseen. */
  keepsUploads?: boolean;
  /** Whether URLs are shown again whose documents were deleted. */
  restoresDeleted?: boolean;
}

/**
 * Replaced are, within the collection: the documents of the same URLs; of a site job, all crawled documents of its
 * hosts; of a job of given pages, also the documents of URLs that were crawled and yielded none this time (they
 * redirect now, or ask not to be indexed), and of those that are gone (404, 410). A URL that merely failed keeps the
 * document it had. Of a URL that somebody removed nothing is shown. A document that was moved into another collection
 * stays as it is there.
 */
export async function activateGeneration(tx: Transaction, activation: Activation): Promise<void> {
  const {
    jobId,
    generationId,
    collectionId,
    wholeHosts,
    onlyNewer,
    keepsUploads = false,
    restoresDeleted = false,
  } = activation;
  await lockActivations(tx);
  if (wholeHosts.length > 0) {
    await tx`
      update documents set generation_active = false, updated_at = now()
      where generation_active and deleted_at is null and domain = any(${wholeHosts as string[]}::text[]) and source = 'crawl' and generation_id <> ${generationId}
        and collection_id is not distinct from ${collectionId}`;
  }
  // the expression is the one of the index documents_active_url
  const collection = tx`coalesce(${collectionId}::uuid, '00000000-0000-0000-0000-000000000000')`;
  if (onlyNewer) {
    await tx`
      update documents d set generation_id = ${uuidv7()}
      from documents a
      where d.generation_id = ${generationId} and a.generation_active and a.deleted_at is null
        and a.url_hash = d.url_hash and a.crawled_at > d.crawled_at
        and coalesce(a.collection_id, '00000000-0000-0000-0000-000000000000') = ${collection}`;
  }
  // what was deleted stays so, unless that was asked for
  if (restoresDeleted) {
    await tx`
      delete from removed_urls r using documents d
      where d.generation_id = ${generationId} and r.url_hash = d.url_hash and r.collection_id = ${collection}`;
  }
  const shown = tx`
    d.generation_id = ${generationId} and d.deleted_at is null and d.collection_id is not distinct from ${collectionId}::uuid
    and not exists (select from removed_urls r where r.url_hash = d.url_hash and r.collection_id = ${collection})
    and not (${keepsUploads} and exists (
      select from documents u
      where u.url_hash = d.url_hash and u.source <> 'crawl' and u.generation_active and u.deleted_at is null
        and u.collection_id is not distinct from ${collectionId}::uuid))`;
  await tx`
    update documents set generation_active = false, updated_at = now()
    where generation_active and deleted_at is null and generation_id <> ${generationId}
      and not (${keepsUploads} and source <> 'crawl')
      and coalesce(collection_id, '00000000-0000-0000-0000-000000000000')
        = ${collection}
      and url_hash in (
        select d.url_hash from documents d where ${shown}
        union
        select url_hash from frontier
        where job_id = ${jobId} and (state = 'crawled' or error_code in ('HTTP_404', 'HTTP_410')))`;
  await tx`update documents d set generation_active = true where ${shown} and not generation_active`;
}

/** Notes a generation that a crawl has made visible: the last ones of a site can be activated again. */
export async function rememberGeneration(tx: Transaction, activation: Activation): Promise<void> {
  const { jobId, generationId, collectionId, wholeHosts } = activation;
  await tx`
    insert into generations (id, job_id, collection_id, hosts, is_whole)
    select ${generationId}, ${jobId}, ${collectionId}, hosts, ${wholeHosts.length > 0} from (
      select array_agg(distinct host order by host) as hosts from (
        select domain from documents where generation_id = ${generationId}
        union select unnest(${wholeHosts as string[]}::text[])) h (host)) of_all
    where hosts is not null
    on conflict (id) do nothing`;
}
